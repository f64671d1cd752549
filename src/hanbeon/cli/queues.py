"""`hanbeon queues`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.options import Database, Json

if TYPE_CHECKING:
    from hanbeon.domain.limits import QueueLimits
    from hanbeon.domain.statistics import Spans
    from hanbeon.surfaces.engine.schemas import EngineQueue, EngineQueues
    from hanbeon.surfaces.installation import Installation


def queues(
    database: Database = None,
    window: Annotated[str, typer.Option(metavar="SPAN", help="The time window of the wait and run times.")] = "1h",
    name: Annotated[str | None, typer.Option(help="Only queues whose name holds this text, in any case.")] = None,
    json: Json = False,
) -> None:
    """Show every queue: its jobs by state, its limits, and wait and run times."""
    import math

    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_json, print_table
    from hanbeon.clock import seconds_of
    from hanbeon.domain.lifecycle import State

    found = run(_read(database, window=math.ceil(seconds_of(window, "window")), name=name))
    if json:
        print_json(found)
        return
    states = [state.value for state in State]
    spans = ("wait p50", "wait p95", "run p50", "run p95")
    print_table(
        ("queue", *states, "oldest", *spans, "limits"),
        [_row(queue) for queue in found.items],
        right=(*states, "oldest", *spans),
        empty="no queues; the first job of a queue creates it" if name is None else "no queue has that in its name",
    )


async def _read(database: str | None, **query: Any) -> EngineQueues:
    from hanbeon.cli.installation import open_installation

    async with open_installation(database) as installation:
        return await read_queues(installation, **query)


async def read_queues(installation: Installation, **query: Any) -> EngineQueues:
    """Return all pages of the queues as one."""
    import msgspec

    from hanbeon.domain.bounds import PAGE_ROWS

    items: list[EngineQueue] = []
    cursor: str | None = None
    while True:
        page = await installation.engine.queues(cursor=cursor, limit=PAGE_ROWS, **query)
        items, cursor = [*items, *page.items], page.next_cursor
        if cursor is None:
            return msgspec.structs.replace(page, items=items)


def _row(queue: EngineQueue) -> list[Any]:
    from hanbeon.cli.output import brief
    from hanbeon.domain.lifecycle import State

    return [
        queue.name,
        *(str(queue.states[state]) for state in State),
        brief(queue.oldest_ready),
        *_percentiles(queue.wait),
        *_percentiles(queue.run),
        " ".join(filter(None, [limits_text(limits_of(queue), paused=queue.paused), _declared(queue)])),
    ]


def _percentiles(spans: Spans | None) -> tuple[str, str]:
    from hanbeon.cli.output import brief

    return (brief(spans.p50), brief(spans.p95)) if spans else ("", "")


def _declared(queue: EngineQueue) -> str:
    """Return the declared limits of a queue where an operator has overridden them since."""
    from hanbeon.store.operations.queues import QueueRecord

    if not QueueRecord(0, queue.name, queue.paused, limits_of(queue), queue.declared).differs:
        return ""
    import msgspec

    from hanbeon.domain.limits import QueueLimits

    declared = msgspec.convert(queue.declared, QueueLimits)
    return f"(declared: {limits_text(declared, paused=False) or 'no limits'})"


def limits_of(queue: EngineQueue) -> QueueLimits:
    from hanbeon.domain.limits import QueueLimits

    return QueueLimits(
        max_concurrent=queue.max_concurrent, max_per_key=queue.max_per_key, roles=queue.roles, keys=queue.keys
    )


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
