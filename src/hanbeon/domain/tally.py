"""Deltas: the changes that the events of one transaction make to the numbers of each queue. Summed, the statistics."""

from __future__ import annotations

import enum
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec

from hanbeon.domain import histogram
from hanbeon.domain.events import PRUNED, Event
from hanbeon.domain.histogram import Histogram
from hanbeon.domain.lifecycle import LIFECYCLE, AttemptStatus, Reason, State

SLOT_US = 60 * 1_000_000
"""The resolution of a queue's flow in the last day: a minute."""
COARSE_SLOT_US = 5 * SLOT_US
"""The resolution before that."""

K = TypeVar("K")


class Count(enum.StrEnum):
    """The counters of a queue's flow."""

    ENQUEUED = "enqueued"
    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    RETRIED = "retried"
    TIMED_OUT = "timed_out"


_COUNTED: dict[str, Count] = {
    Reason.ENQUEUED.value: Count.ENQUEUED,
    Reason.SCHEDULED.value: Count.ENQUEUED,
    Reason.CLAIMED.value: Count.STARTED,
    Reason.SUCCEEDED.value: Count.SUCCEEDED,
    Reason.FAILED.value: Count.FAILED,
    Reason.DEPENDENCY_FAILED.value: Count.FAILED,
    Reason.EXPIRED.value: Count.FAILED,
    Reason.STOPPED.value: Count.CANCELLED,
    Reason.CANCELLED.value: Count.CANCELLED,
    Reason.REPLACED.value: Count.CANCELLED,
    Reason.RETRIED.value: Count.RETRIED,
    Reason.MARKED_DONE.value: Count.SUCCEEDED,
}
_DEPENDENCY_FAILED = "dependency_failed"
"""The failure type of an event that names none."""
_FAILS = (Reason.FAILED.value, Reason.DEPENDENCY_FAILED.value, Reason.EXPIRED.value)
_MAY_TIME_OUT = (Reason.RETRIED.value, Reason.FAILED.value)


class Flow(msgspec.Struct, omit_defaults=True):
    """The jobs that went through a queue in a time window. Waits and runs are histograms of microseconds."""

    counts: dict[Count, int] = msgspec.field(default_factory=dict)
    waits: Histogram = msgspec.field(default_factory=dict)
    runs: Histogram = msgspec.field(default_factory=dict)
    failures: dict[str, int] = msgspec.field(default_factory=dict)
    """Failed jobs by failure type."""

    def add(self, other: Flow) -> None:
        _add(self.counts, other.counts)
        histogram.merge(self.waits, other.waits)
        histogram.merge(self.runs, other.runs)
        _add(self.failures, other.failures)


class Stock(msgspec.Struct, omit_defaults=True):
    """The number of jobs in each state, or the change of it; `ran` is the total run time of succeeded jobs in µs."""

    states: dict[State, int] = msgspec.field(default_factory=dict)
    ran: int = 0

    def add(self, other: Stock) -> None:
        _add(self.states, other.states)
        self.ran += other.ran

    def count(self, state: State) -> int:
        return self.states.get(state, 0)


class Delta(msgspec.Struct, omit_defaults=True):
    """The changes of a transaction to one queue."""

    stock: Stock = msgspec.field(default_factory=Stock)
    flow: Flow = msgspec.field(default_factory=Flow)


def tally(events: Iterable[Event]) -> dict[str, Delta]:
    """Return the changes by queue. Every queue that has an event is included, even where nothing changed.

    This is on the hot path of every job: events are grouped once, and all further work is done per group.
    """
    groups: defaultdict[tuple[str, str, State | None, State | None], list[Event]] = defaultdict(list)
    for event in events:
        groups[event.queue, event.type, event.was, event.state].append(event)
    deltas: dict[str, Delta] = {}
    for (queue, kind, was, state), group in groups.items():
        delta = deltas.get(queue)
        if delta is None:
            delta = deltas[queue] = Delta()
        counted = _COUNTED.get(kind)
        if counted is None and was is state and kind != PRUNED:
            continue
        if kind == PRUNED:
            for event in group:
                _take_away(delta.stock, event)
            continue
        _move(delta.stock.states, was, state, len(group))
        _time(delta, kind, group)
        if counted is not None:
            delta.flow.counts[counted] = delta.flow.counts.get(counted, 0) + len(group)
        if kind in _FAILS:
            types = Counter(event.details.get("failure_type", _DEPENDENCY_FAILED) for event in group)
            _add(delta.flow.failures, types)
    for delta in deltas.values():
        # Changes that cancel out within one transaction, as for a job that is promoted as soon as it is retried.
        delta.stock.states = {state: change for state, change in delta.stock.states.items() if change}
    return deltas


def add_moves(deltas: dict[str, Delta], queue: str, reason: Reason, state: State, spans: list[int]) -> None:
    """Add so many similar moves as there are spans, each with how long it took; of a reason with one source state."""
    delta = deltas.setdefault(queue, Delta())
    kind = reason.value
    (was,) = LIFECYCLE[reason].sources
    _move(delta.stock.states, was, state, len(spans))
    _add_spans(delta, kind, spans)
    counted = _COUNTED.get(kind)
    if counted is not None:
        delta.flow.counts[counted] = delta.flow.counts.get(counted, 0) + len(spans)


def _move(states: dict[State, int], was: State | None, state: State | None, count: int) -> None:
    if was is state:
        return
    if was is not None:
        states[was] = states.get(was, 0) - count
    if state is not None:
        states[state] = states.get(state, 0) + count


def _time(delta: Delta, kind: str, group: list[Event]) -> None:
    spans = [event.took for event in group if event.took is not None]
    if spans:
        _add_spans(delta, kind, spans)
    if kind in _MAY_TIME_OUT:
        late = sum(event.details.get("status") == AttemptStatus.TIMEOUT for event in group)
        if late:
            delta.flow.counts[Count.TIMED_OUT] = delta.flow.counts.get(Count.TIMED_OUT, 0) + late


def _add_spans(delta: Delta, kind: str, spans: list[int]) -> None:
    flow = delta.flow
    histogram.merge(flow.waits if kind == Reason.CLAIMED.value else flow.runs, histogram.of(spans))
    if kind == Reason.SUCCEEDED.value:
        delta.stock.ran += sum(spans)


def _take_away(stock: Stock, event: Event) -> None:
    for word, count in event.details["states"].items():
        state = State(word)
        stock.states[state] = stock.states.get(state, 0) - count
    stock.ran -= event.details["ran"]


def _add(into: dict[K, int], more: Mapping[K, int]) -> None:
    for key, change in more.items():
        into[key] = into.get(key, 0) + change
