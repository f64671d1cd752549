"""Moves of all jobs as events for operators, in the engine's own words."""

from __future__ import annotations

from datetime import tzinfo
from typing import Any

import msgspec

from hanbeon.clock import iso
from hanbeon.domain.events import Event
from hanbeon.domain.explain import INSTANTS
from hanbeon.domain.lifecycle import Reason
from hanbeon.events.broadcast import Serializer
from hanbeon.events.follower import Delivered
from hanbeon.surfaces.engine.schemas import ChangeType, EngineChange, EngineEvent

_REASONS = {reason.value: reason for reason in Reason}


def translated(event: Event, zone: tzinfo) -> EngineEvent | None:
    """The move of a job; None for other events, which surfaces and upkeep emit."""
    kind = _REASONS.get(event.type)
    if kind is None or event.job_id is None:
        return None
    return EngineEvent(
        id=event.id,
        type=kind,
        queue=event.queue,
        job_id=event.job_id,
        task=event.task,
        state=event.state,
        attempt=event.attempt,
        details={name: _detail(name, value, zone) for name, value in event.details.items()},
        timestamp=iso(event.at, zone, "milliseconds") or "",
    )


def serializer(zone: tzinfo) -> Serializer:
    """Translate the events that operators get."""

    def translate(event: Event) -> Delivered | None:
        found = translated(event, zone)
        return None if found is None else Delivered(found.id, found.type.value, msgspec.json.encode(found))

    return translate


def change(now: int, zone: tzinfo) -> Delivered:
    """A hint that something has changed by now."""
    found = EngineChange(id=now, type=ChangeType.CHANGED, timestamp=iso(now, zone, "milliseconds") or "")
    return Delivered(now, found.type.value, msgspec.json.encode(found))


def _detail(name: str, value: Any, zone: tzinfo) -> Any:
    return iso(value, zone, "milliseconds") if name in INSTANTS | {"retry_at"} and isinstance(value, int) else value
