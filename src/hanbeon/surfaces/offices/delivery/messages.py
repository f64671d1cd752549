"""Messages made from events: their bytes are fixed here, and every attempt sends the same ones."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from hanbeon.clock import micros
from hanbeon.domain.events import Event
from hanbeon.domain.job import JobRecord, NewJob
from hanbeon.settings import Settings
from hanbeon.store.operations.queries import nodes_by_id, now_us
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.offices.delivery.rules import POLICY, TASK, TEST_POLICY, ListenerKind, queue_of_tests
from hanbeon.surfaces.offices.events import translated
from hanbeon.surfaces.offices.job_plan import meta_of
from hanbeon.surfaces.offices.listener_rows import ListenerRecord
from hanbeon.surfaces.offices.queue import office_of_queue
from hanbeon.surfaces.offices.schemas import SchedulerEvent
from hanbeon.surfaces.offices.serializers import iso_ms
from hanbeon.surfaces.offices.vocabulary import MESSAGE, EventType, MessageType

if TYPE_CHECKING:
    from hanbeon.surfaces.offices.delivery.relay import Listeners

_MESSAGE_MOST = 2_000


class Message(NamedTuple):
    title: str
    body: str


_TITLE = {"en": "{office}: {job} has failed", "ko": "{office}: {job} 작업이 실패했습니다"}
_LINES = {
    "en": {
        "office": "Office",
        "job": "Job",
        "role": "Role",
        "type": "Failure",
        "message": "Message",
        "attempts": "Attempts",
        "at": "Failed at",
        "page": "Page",
    },
    "ko": {
        "office": "오피스",
        "job": "작업",
        "role": "역할",
        "type": "실패 유형",
        "message": "메시지",
        "attempts": "시도 횟수",
        "at": "실패 시각",
        "page": "페이지",
    },
}


def failure_text(settings: Settings, office: str, event: SchedulerEvent, job: JobRecord | None) -> Message:
    """Return title and body; unknown values are left out. The job may have been pruned since."""
    language = settings.language
    meta = meta_of(None if job is None else job.meta)
    name = meta.title or meta.key or event.job_id
    message = event.details.get("error_message")
    values = {
        "office": office,
        "job": name if name == event.job_id else f"{name} ({event.job_id})",
        "role": None if job is None else job.role,
        "type": event.details.get("failure_type"),
        "message": None if message is None else message[:_MESSAGE_MOST],
        # A job that failed with its dependency was never attempted.
        "attempts": event.details.get("attempt", 0),
        "at": event.timestamp,
        "page": settings.page_url("jobs", event.job_id),
    }
    lines = [f"{_LINES[language][key]}: {value}" for key, value in values.items() if value not in (None, "")]
    return Message(_one_line(_TITLE[language].format(office=office, job=name)), "\n".join(lines))


def _one_line(text: str) -> str:
    """Return the text on one line: a title becomes a mail's subject, where a line break would start a header."""
    return " ".join(text.split())


# Added to the webhook's own timeout: for a slow name server, and for recording the outcome.
_SPARE_SECONDS = 20.0
NOTIFICATION_SECONDS = 60.0
_ROOMS = (1_048_576, 2_000, 1_000, 500, 250, 100, 50)
"""Characters of each text of a message, tried in turn until it is small enough."""


class DeliveryMeta(msgspec.Struct, frozen=True, kw_only=True):
    """Metadata stored with a message: the event and the job that it is about, if any."""

    event: int = 0
    type: MessageType = MessageType.JOB_READY
    job: str = ""


class MessageBuilder:
    """Makes the messages of events, for the relay."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def __call__(self, tx: Tx, events: Sequence[Event], listeners: Listeners) -> list[NewJob]:
        # No messages for one disabled longer than events are kept: its backlog would grow without bound.
        forgotten = await now_us(tx) - micros(self._settings.retention)
        wanted = [
            (listener, office_event)
            for event in events
            for listener in listeners.get(office_of_queue(event.queue) or "", ())
            if event.id > listener.since and (listener.disabled_at is None or listener.disabled_at > forgotten)
            if (office_event := translated(event, listener.office_id, self._settings.zone)) is not None
            if _is_for(listener, office_event)
        ]
        failed = {
            office_event.job_id for listener, office_event in wanted if listener.kind is ListenerKind.NOTIFICATION
        }
        jobs = {job.id: job for job in await nodes_by_id(tx, sorted(failed))} if failed else {}
        return [
            self._message(listener, office_event, jobs.get(office_event.job_id)) for listener, office_event in wanted
        ]

    def _message(self, listener: ListenerRecord, office_event: SchedulerEvent, job: JobRecord | None) -> NewJob:
        """One message, its texts cut if it is too large: a message that cannot be made must not hold up the others."""
        args, rooms = self._args(listener, office_event, job, _ROOMS[0]), iter(_ROOMS[1:])
        # If it is too large all the same, it is sent: nothing of it is long any more.
        while len(args.encode()) > self._settings.max_payload_bytes and (room := next(rooms, None)) is not None:
            args = self._args(listener, office_event, job, room)
        return self._job(listener, office_event, args)

    def _args(self, listener: ListenerRecord, office_event: SchedulerEvent, job: JobRecord | None, room: int) -> str:
        if listener.kind is ListenerKind.WEBHOOK:
            details = {name: _cut(value, room) for name, value in office_event.details.items()}
            body = to_json(msgspec.structs.replace(office_event, details=details))
            return to_json({"listener": listener.id, "body": body})
        text = failure_text(self._settings, listener.office_name, office_event, job)
        return to_json({"listener": listener.id, "title": _cut(text.title, room), "body": _cut(text.body, room)})

    def _job(self, listener: ListenerRecord, office_event: SchedulerEvent, args: str) -> NewJob:
        is_webhook = listener.kind is ListenerKind.WEBHOOK
        seconds = _webhook_seconds(self._settings) if is_webhook else NOTIFICATION_SECONDS
        return NewJob(
            # Deterministic: if two relays made this message, there would still be only one.
            id=str(uuid.uuid5(uuid.UUID(listener.id), str(office_event.id))),
            task=TASK[listener.kind],
            args=args,
            queue=listener.queue,
            timeout_us=micros(seconds),
            policy=POLICY[listener.kind],
            meta=to_json(DeliveryMeta(event=office_event.id, type=MESSAGE[office_event.type], job=office_event.job_id)),
        )


def _cut(value: Any, room: int) -> Any:
    return value[:room] + "…" if isinstance(value, str) and len(value) > room else value


def test_message(hook: ListenerRecord, message_id: str, now: int, settings: Settings) -> NewJob:
    """A test message to a webhook, with the fields of an event, so that any receiver of events can read it."""
    body = {
        "id": None,
        "type": MessageType.WEBHOOK_TEST,
        "job_id": None,
        "office_id": hook.office_id,
        "details": {"webhook_id": hook.id},
        "timestamp": iso_ms(now, settings.zone),
    }
    return NewJob(
        id=message_id,
        task=TASK[ListenerKind.WEBHOOK],
        args=to_json({"listener": hook.id, "body": to_json(body)}),
        queue=queue_of_tests(hook.id),
        timeout_us=micros(_webhook_seconds(settings)),
        policy=TEST_POLICY,
        meta=to_json(DeliveryMeta(type=MessageType.WEBHOOK_TEST)),
    )


def _webhook_seconds(settings: Settings) -> float:
    return settings.webhook_timeout + _SPARE_SECONDS


def _is_for(listener: ListenerRecord, office_event: SchedulerEvent) -> bool:
    if listener.kind is ListenerKind.NOTIFICATION:
        return office_event.type is EventType.JOB_FAILED
    return listener.wants(office_event.type)
