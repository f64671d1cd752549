"""Events of offices, translated from the engine's."""

from __future__ import annotations

from datetime import tzinfo
from typing import Any

import msgspec

from hanbeon.domain.events import Event
from hanbeon.domain.job import session_id
from hanbeon.domain.lifecycle import AttemptStatus, Phase
from hanbeon.events.broadcast import Serializer
from hanbeon.events.follower import Delivered
from hanbeon.surfaces.event_page import EventSource
from hanbeon.surfaces.offices.errors import OfficeNotFound
from hanbeon.surfaces.offices.queue import queue_of_office
from hanbeon.surfaces.offices.rows import OFFICE_DELETED
from hanbeon.surfaces.offices.schemas import SchedulerEvent
from hanbeon.surfaces.offices.serializers import iso_ms
from hanbeon.surfaces.offices.vocabulary import EVENT, EXECUTION, STATUS, EventType, status_of_state

_BY_HAND = (("user", "user"), ("comment", "comment"))
_TYPES = {reason.value: kind for reason, kind in EVENT.items()}


def translated(event: Event, office_id: str, zone: tzinfo) -> SchedulerEvent | None:
    """The event of an office; None if it is another office's, or not an event of offices."""
    kind = _TYPES.get(event.type)
    if kind is None or event.job_id is None or event.queue != queue_of_office(office_id):
        return None
    return SchedulerEvent(
        id=event.id,
        type=kind,
        job_id=event.job_id,
        office_id=office_id,
        details=_details(event, kind, zone),
        timestamp=iso_ms(event.at, zone) or "",
    )


def serializer(office_id: str, zone: tzinfo) -> Serializer:
    """Translate the events that followers of an office get; raises once the office is deleted."""

    def translate(event: Event) -> Delivered | None:
        if event.type == OFFICE_DELETED and event.queue == queue_of_office(office_id):
            raise OfficeNotFound(office_id)
        found = translated(event, office_id, zone)
        return None if found is None else Delivered(found.id, found.type.value, msgspec.json.encode(found))

    return translate


def _details(event: Event, kind: EventType, zone: tzinfo) -> dict[str, Any]:
    engine = event.details
    details: dict[str, Any] = {}
    if event.state is not None:
        status = STATUS[Phase.OVERDUE] if kind is EventType.JOB_TIMEOUT else status_of_state(event.state)
        details["status"] = status.value
    if event.attempt is not None:
        details["attempt"] = event.attempt
        details["session_id"] = session_id(event.job_id or "", event.attempt)
    if "status" in engine:
        details["execution_status"] = EXECUTION[AttemptStatus(engine["status"])].value
    if event.took is not None and kind is not EventType.JOB_STARTED:
        details["duration_ms"] = event.took // 1_000
    for name, shown in (("failure_type", "failure_type"), ("message", "error_message"), *_BY_HAND):
        if name in engine:
            details[shown] = engine[name]
    if "retry_at" in engine:
        details["retry_at"] = iso_ms(engine["retry_at"], zone)
    return details


def event_source(office_id: str, zone: tzinfo) -> EventSource:
    return EventSource(queue_of_office(office_id), lambda event: translated(event, office_id, zone))
