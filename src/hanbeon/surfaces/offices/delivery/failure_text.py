"""Texts of notifications about jobs that failed permanently, by language."""

from __future__ import annotations

from typing import NamedTuple

from hanbeon.domain.job import JobRecord
from hanbeon.settings import Settings
from hanbeon.surfaces.offices.job_plan import meta_of
from hanbeon.surfaces.offices.schemas import SchedulerEvent

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
