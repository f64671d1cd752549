"""Events of chains, from the engine's event log."""

from __future__ import annotations

from datetime import tzinfo

import msgspec

from hanbeon.clock import iso
from hanbeon.domain.events import Event
from hanbeon.events.broadcast import Serializer
from hanbeon.events.follower import Delivered
from hanbeon.surfaces.chains.schemas import ChainEvent
from hanbeon.surfaces.chains.steps import QUEUE
from hanbeon.surfaces.chains.vocabulary import ChainEventType
from hanbeon.surfaces.event_page import EventSource

_TYPES = {kind.value: kind for kind in ChainEventType}


def translated(event: Event, queue_id: int, zone: tzinfo) -> ChainEvent | None:
    """The event of a chain; None if it is another chain's, or not an event of chains."""
    kind = _TYPES.get(event.type)
    if kind is None or event.queue != QUEUE or event.details.get("queue_id") != queue_id:
        return None
    details = {name: value for name, value in event.details.items() if name not in ("queue_id", "run")}
    return ChainEvent(
        id=event.id,
        type=kind,
        queue_id=queue_id,
        run=event.details["run"],
        details=details,
        timestamp=iso(event.at, zone, "milliseconds") or "",
    )


def serializer(queue_id: int, zone: tzinfo) -> Serializer:
    """Translate the events that followers of a chain get."""

    def translate(event: Event) -> Delivered | None:
        found = translated(event, queue_id, zone)
        return None if found is None else Delivered(found.id, found.type.value, msgspec.json.encode(found))

    return translate


def event_source(queue_id: int, zone: tzinfo) -> EventSource:
    return EventSource(QUEUE, lambda event: translated(event, queue_id, zone))
