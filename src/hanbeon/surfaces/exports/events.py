"""Events of one user's exports, from the engine's event log."""

from __future__ import annotations

from datetime import tzinfo

import msgspec

from hanbeon.clock import iso
from hanbeon.domain.events import Event
from hanbeon.events.broadcast import Serializer
from hanbeon.events.follower import Delivered
from hanbeon.surfaces.exports.jobs import QUEUE
from hanbeon.surfaces.exports.rows import ExportRecord
from hanbeon.surfaces.exports.schemas import ExportEvent
from hanbeon.surfaces.exports.vocabulary import ExportEventType

_TYPES = frozenset(kind.value for kind in ExportEventType)


def translated(event: Event, owner: str, zone: tzinfo) -> ExportEvent | None:
    """The event of an export of this user; None if it is another's, or not an event of exports."""
    if event.type not in _TYPES or event.queue != QUEUE or event.details.get("owner") != owner:
        return None
    fields = {name: value for name, value in event.details.items() if name != "owner"}
    known = {"id": event.id, "type": event.type, "timestamp": iso(event.at, zone, "milliseconds")}
    return msgspec.convert({**known, **fields}, ExportEvent)


def serializer(owner: str, zone: tzinfo) -> Serializer:
    """Translate the events that a user's connections get."""

    def translate(event: Event) -> Delivered | None:
        found = translated(event, owner, zone)
        return None if found is None else _delivered(found)

    return translate


def present_progress(record: ExportRecord, after: int, now: int, zone: tzinfo) -> Delivered:
    """The progress of an unfinished export, for a connection that begins after this event."""
    return _delivered(
        ExportEvent(
            id=after,
            type=ExportEventType.PROGRESS,
            job_id=record.id,
            job_type=record.job_type,
            replay_id=record.replay_id,
            timestamp=iso(now, zone, "milliseconds") or "",
            progress=record.progress,
            phase=record.phase,
            message=record.message,
        )
    )


def _delivered(event: ExportEvent) -> Delivered:
    return Delivered(event.id, event.type.value, msgspec.json.encode(event))
