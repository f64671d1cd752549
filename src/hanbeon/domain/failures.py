"""Failures in groups: those of one task whose messages differ only in numbers and ids."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

_MESSAGE_SHOWN = 200
_VARYING = re.compile(r"0x[0-9a-fA-F]+|[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,})*|\d+")


class Failure(msgspec.Struct, frozen=True):
    """One job that failed."""

    job_id: str
    task: str
    failure_type: str
    message: str
    at: int


class FailureCount(msgspec.Struct):
    """Failures of one kind; `message` is that of the last."""

    task: str
    failure_type: str
    message: str
    count: int
    first_at: int
    last_at: int
    last_id: str


def grouped(failures: Iterable[Failure]) -> list[FailureCount]:
    """Group failures, the most frequent first."""
    groups: dict[tuple[str, str, str], FailureCount] = {}
    for each in failures:
        message = first_line(each.message)
        kind = (each.task, each.failure_type, _VARYING.sub("#", message))
        group = groups.get(kind)
        if group is None:
            groups[kind] = FailureCount(each.task, each.failure_type, message, 1, each.at, each.at, each.job_id)
            continue
        group.count += 1
        group.first_at = min(group.first_at, each.at)
        if each.at > group.last_at:
            group.last_at, group.last_id, group.message = each.at, each.job_id, message
    return sorted(groups.values(), key=lambda group: (-group.count, -group.last_at))


def first_line(message: str) -> str:
    return message.strip().partition("\n")[0][:_MESSAGE_SHOWN]
