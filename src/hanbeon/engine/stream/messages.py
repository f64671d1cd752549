"""Messages of stream workers, read into what the database is asked to do with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from hanbeon.domain.bounds import PATH_BYTES
from hanbeon.domain.json_text import check_depth
from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.store.operations.stream import StreamProgress
from hanbeon.tasks.stream_call import Reply, StreamCall

STATUSES = ("SUCCEEDED", "FAILED", "CANCELLED")
_LONGEST_TEXT = 4_000
_LONGEST_CODE = 200
_LONGEST_ID = 100
_FENCE_MAX = 2**62


class UnreadableError(Exception):
    """The message is not one, because of this field; its text is the reason."""

    def __init__(self, field: str, rule: str) -> None:
        self.field = field
        super().__init__(f"{field} must be {rule}")


class Message(NamedTuple):
    """A reply about a job, by its id on the wire."""

    wire_id: str
    fence: int | None
    progress: StreamProgress | None = None
    reply: Reply | None = None


def read_message(kind: str, fields: Mapping[str, str]) -> Message:
    """Read an entry of `progress` or `results`. Raises UnreadableError."""
    wire_id = fields.get("jobId", "")
    if not wire_id or len(wire_id) > _LONGEST_ID:
        raise UnreadableError("jobId", f"the id of a job, got {quoted(wire_id)}")
    fence = _whole(fields["fence"], "fence", _FENCE_MAX) if fields.get("fence") else None
    if kind == "progress":
        percent = _whole(fields.get("progress", ""), "progress", 100)
        phase = _text(fields.get("phase"), _LONGEST_CODE) or ""
        return Message(wire_id, fence, StreamProgress(percent, phase, _text(fields.get("message")) or ""))
    return Message(wire_id, fence, reply=_reply(fields))


def _reply(fields: Mapping[str, str]) -> Reply:
    status = fields.get("status", "")
    if status not in STATUSES:
        raise UnreadableError("status", f"one of {', '.join(STATUSES)}, got {quoted(status)}")
    result = fields.get("result")
    if result is not None:
        try:
            check_depth(result, "result")
            msgspec.json.decode(result)
        except (InvalidInput, msgspec.DecodeError) as error:
            raise UnreadableError("result", f"JSON: {error}") from error
    return Reply(
        status=status,
        result_uri=_text(fields.get("resultUri"), PATH_BYTES),
        checksum=_text(fields.get("checksum"), _LONGEST_CODE),
        error_code=_text(fields.get("errorCode"), _LONGEST_CODE),
        error_message=_text(fields.get("errorMessage")),
        result=result,
        permanent=fields.get("permanent") == "true",
    )


def fence_of(message: Message, call: StreamCall) -> int | None:
    """Return the attempt that a message is of: what it echoes, or what its path tells; None: it does not say."""
    if message.fence is None and message.reply is not None and message.reply.result_uri:
        return call.fence_of(message.reply.result_uri)
    return message.fence


def _whole(text: str, field: str, most: int) -> int:
    if text.isascii() and text.isdigit() and int(text[:20]) <= most:
        return int(text[:20])
    raise UnreadableError(field, f"an integer from 0 to {most}, got {quoted(text)}")


def _text(text: str | None, limit: int = _LONGEST_TEXT) -> str | None:
    return text[:limit].replace("\x00", "\ufffd") if text else None
