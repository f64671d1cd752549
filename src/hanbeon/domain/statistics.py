"""Queue statistics for operators, computed from a queue's stock and flow."""

from __future__ import annotations

from typing import Any

import msgspec

from hanbeon.domain import histogram
from hanbeon.domain.histogram import Histogram
from hanbeon.domain.lifecycle import State
from hanbeon.domain.tally import Count, Flow, Stock
from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.rule import Rule

_MICROS = 1_000_000
LATE_US = 60 * _MICROS
"""A queue whose oldest ready job has waited for longer is late."""


def check_window(seconds: Any, kept_us: int) -> None:
    """Raise unless it is a time of which all timings are kept."""
    most = kept_us // _MICROS
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 < seconds <= most:
        raise InvalidInput(Rule("must_be", what=Rule("window_seconds", most=most), got=quoted(seconds)), field="window")


class Spans(msgspec.Struct, frozen=True, kw_only=True):
    """A distribution of durations in seconds: off by at most 1/32, `max` at most 1/16 too long."""

    count: int
    mean: float
    p50: float
    p90: float
    p95: float
    p99: float
    max: float


class QueueStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """A queue now (`states`, `oldest_ready`, `mean_run`), and what went through it in the last `seconds`.

    `seconds` is the requested window, extended to the start of its first slot. `throughput` is jobs that
    succeeded per second. `wait` is from when a job could run to its claim, `run` from the claim to the end of the
    attempt, successful or not; None if there was none. `mean_run` covers all succeeded jobs that are still stored.
    """

    states: dict[State, int]
    oldest_ready: float | None
    mean_run: float | None
    seconds: float
    enqueued: int
    started: int
    succeeded: int
    failed: int
    cancelled: int
    retried: int
    timed_out: int
    throughput: float
    wait: Spans | None
    run: Spans | None


def all_states(stock: Stock) -> dict[State, int]:
    """Return the number of jobs in each state, zeros included."""
    return {state: stock.count(state) for state in State}


def summarise(stock: Stock, flow: Flow, *, oldest_ready_us: int | None, span_us: int) -> QueueStatistics:
    """Compute the statistics of a queue whose `flow` covers `span_us`."""
    seconds = span_us / _MICROS
    succeeded = stock.count(State.SUCCEEDED)
    counts = {count.value: flow.counts.get(count, 0) for count in Count}
    return QueueStatistics(
        states=all_states(stock),
        oldest_ready=None if oldest_ready_us is None else oldest_ready_us / _MICROS,
        mean_run=stock.ran / succeeded / _MICROS if succeeded else None,
        seconds=seconds,
        throughput=counts[Count.SUCCEEDED] / seconds,
        wait=_spans(flow.waits),
        run=_spans(flow.runs),
        **counts,
    )


def _spans(of: Histogram) -> Spans | None:
    if not of:
        return None
    return Spans(
        count=sum(of.values()),
        mean=histogram.mean(of) / _MICROS,
        p50=histogram.percentile(of, 0.50) / _MICROS,
        p90=histogram.percentile(of, 0.90) / _MICROS,
        p95=histogram.percentile(of, 0.95) / _MICROS,
        p99=histogram.percentile(of, 0.99) / _MICROS,
        max=histogram.largest(of) / _MICROS,
    )
