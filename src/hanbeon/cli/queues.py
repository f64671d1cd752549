"""`hanbeon queues`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.options import Database, Json

if TYPE_CHECKING:
    from hanbeon.domain.limits import QueueLimits
    from hanbeon.domain.statistics import QueueStatistics, Spans
    from hanbeon.store.operations.queues import QueueRecord


def queues(
    database: Database = None,
    window: Annotated[str, typer.Option(metavar="SPAN", help="The time window of the wait and run times.")] = "1h",
    name: Annotated[str | None, typer.Option(help="Only queues whose name holds this text, in any case.")] = None,
    json: Json = False,
) -> None:
    """Show every queue: its jobs by state, its limits, and wait and run times."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.json_output import queue_shape
    from hanbeon.cli.output import print_json, print_table
    from hanbeon.clock import seconds_of
    from hanbeon.domain.lifecycle import State

    found = run(_read(database, seconds_of(window, "window"), name))
    if json:
        print_json({"queues": [queue_shape(queue, numbers) for queue, numbers in found]})
        return
    states = [state.value for state in State]
    spans = ("wait p50", "wait p95", "run p50", "run p95")
    print_table(
        ("queue", *states, "oldest", *spans, "limits"),
        [_row(queue, numbers) for queue, numbers in found],
        right=(*states, "oldest", *spans),
        empty="no queues; the first job of a queue creates it" if name is None else "no queue has that in its name",
    )


async def _read(database: str | None, window: float, name: str | None) -> Sequence[tuple[QueueRecord, QueueStatistics]]:
    from hanbeon.cli.source.source import open_source

    async with open_source(database) as source:
        return (await source.activity(window, name)).queues


def _row(queue: QueueRecord, numbers: QueueStatistics) -> list[Any]:
    from hanbeon.cli.formats import brief
    from hanbeon.domain.lifecycle import State

    return [
        queue.name,
        *(str(numbers.states[state]) for state in State),
        brief(numbers.oldest_ready),
        *_percentiles(numbers.wait),
        *_percentiles(numbers.run),
        " ".join(filter(None, [limits_text(queue.limits, paused=queue.paused), _declared(queue)])),
    ]


def _percentiles(spans: Spans | None) -> tuple[str, str]:
    from hanbeon.cli.formats import brief

    return (brief(spans.p50), brief(spans.p95)) if spans else ("", "")


def _declared(queue: QueueRecord) -> str:
    """Return the declared limits of a queue where an operator has overridden them since."""
    if not queue.differs:
        return ""
    import msgspec

    from hanbeon.domain.limits import QueueLimits

    declared = msgspec.convert(queue.declared, QueueLimits)
    return f"(declared: {limits_text(declared, paused=False) or 'no limits'})"


def limits_text(limits: QueueLimits, *, paused: bool) -> str:
    """Return a queue's limits as text; empty if it has none."""
    parts = ["paused"] if paused else []
    if limits.max_concurrent:
        parts.append(f"{limits.max_concurrent} at once")
    if limits.max_per_key:
        parts.append(f"{limits.max_per_key} per key")
    parts += [f"role {name}={number}" for name, number in sorted(limits.roles.items())]
    parts += [f"key {name}={number}" for name, number in sorted(limits.keys.items())]
    return ", ".join(parts)
