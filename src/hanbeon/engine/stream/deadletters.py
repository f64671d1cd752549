"""Dead letters: messages that could not be used, kept in Redis for operators to look at, put back or drop."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from typing import Any

import msgspec

from hanbeon.domain.bounds import PAGE_BYTES
from hanbeon.domain.dead_letters import INVALID_OUTPUT_PATH, UNKNOWN_JOB, DeadLetterCode
from hanbeon.engine.stream.messages import UnreadableError, read_message
from hanbeon.engine.stream.wire import ReadPace, Wire, entry_order, size_of
from hanbeon.errors import NotFound
from hanbeon.rule import Rule
from hanbeon.stream_worker.request import Request

_REMEDY = "`hanbeon deadletter list` shows them"
_REASONS = {DeadLetterCode.UNKNOWN_JOB: UNKNOWN_JOB, DeadLetterCode.INVALID_OUTPUT_PATH: INVALID_OUTPUT_PATH}
# Together: a letter is put back once, however often it is asked for.
_PUT_BACK = """
if redis.call('XDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('XADD', KEYS[2], '*', unpack(ARGV, 2))
return 1
"""


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True):
    """A message that could not be used. `id` is `<stream name>:<entry>`, `stream` and `entry` say where it was."""

    id: str
    stream: str
    entry: str
    reason: str
    payload: dict[str, Any]
    at: int
    """When it was moved here, in microseconds."""
    truncated: bool = False
    """True if `payload` has only the beginning of the message."""

    @property
    def cause(self) -> tuple[DeadLetterCode, str | None]:
        """The code of the reason, and the field that could not be read, if it is one.

        Letters hold the reason as text, as their format says: it is found again by reading the message once more.
        """
        for code, reason in _REASONS.items():
            if self.reason == reason:
                return code, None
        kind = self.stream.rpartition(".")[2]
        fields = {name: str(value) for name, value in self.payload.items()}
        try:
            Request.from_fields(fields) if kind == "requests" else read_message(kind, fields)
        except UnreadableError as error:
            if str(error) == self.reason:
                return DeadLetterCode.UNREADABLE, error.field
        except ValueError as error:
            if str(error) == self.reason:
                return DeadLetterCode.UNREADABLE, None
        return DeadLetterCode.OTHER, None


class DeadLetters:
    """The dead letters of these streams; none without a wire."""

    def __init__(self, wire: Wire | None, names: Sequence[str]) -> None:
        self._wire, self._names = wire, sorted(names)

    async def page(self, limit: int, after: str | None = None) -> tuple[list[DeadLetter], bool]:
        """List letters by stream, the newest first; resume after the id of the last one. Returns if more follow.

        A page ends after so many bytes, too. Letters are read a few at a time: others than we may write them.
        """
        begin, _, entry = (after or "").rpartition(":")
        found: list[DeadLetter] = []
        if self._wire is None:
            return found, False
        room, pace = PAGE_BYTES, ReadPace()
        async with self._wire.commands() as redis:
            for name in (each for each in self._names if each >= begin):
                most = f"({entry}" if name == begin and entry else "+"
                while rows := await redis.xrevrange(f"{name}.deadletter", max=most, count=pace.count):
                    for row in rows:
                        room -= size_of(row[1])
                        if len(found) == limit or (found and room < 0):
                            return found, True
                        found.append(_letter(name, *row))
                    pace.read(sum(size_of(fields) for _, fields in rows))
                    most = f"({rows[-1][0]}"
        return found, False

    async def get(self, letter_id: str) -> DeadLetter:
        wire, name, entry = self._place(letter_id)
        async with wire.commands() as redis:
            rows = await redis.xrange(f"{name}.deadletter", min=entry, max=entry)
        if not rows:
            raise NotFound(Rule("dead_letter_not_found", letter=repr(letter_id)))
        return _letter(name, *rows[0])

    async def republish(self, letter_id: str) -> DeadLetter:
        """Put a message back into its stream, as it was and with its `jobId`, and drop the letter."""
        letter = await self.get(letter_id)
        wire, name, entry = self._place(letter_id)
        if not letter.payload:
            raise NotFound(Rule("dead_letter_holds_nothing", letter=repr(letter_id)))
        if letter.truncated:
            raise NotFound(Rule("dead_letter_cut", letter=repr(letter_id)))
        flat = [part for field, value in letter.payload.items() for part in (field, str(value))]
        async with wire.commands() as redis:
            keys = [f"{name}.deadletter", letter.stream]
            if not await redis.eval(_PUT_BACK, len(keys), *keys, entry, *flat):
                raise NotFound(Rule("dead_letter_gone", letter=repr(letter_id)))
        return letter

    async def drop(self, letter_id: str) -> DeadLetter:
        """Delete a letter for good."""
        letter = await self.get(letter_id)
        wire, name, entry = self._place(letter_id)
        async with wire.commands() as redis:
            await redis.xdel(f"{name}.deadletter", entry)
        return letter

    def _place(self, letter_id: str) -> tuple[Wire, str, str]:
        name, _, entry = letter_id.rpartition(":")
        with contextlib.suppress(ValueError):
            if self._wire is not None and name in self._names and len(entry) < 50 and len(entry_order(entry)) == 2:
                return self._wire, name, entry
        raise NotFound(Rule("dead_letter_not_found", letter=repr(letter_id[:80])))


def _letter(name: str, entry: str, fields: Any) -> DeadLetter:
    try:
        payload = json.loads(fields.get("payload", "{}"))
    except ValueError:
        payload = {}
    return DeadLetter(
        id=f"{name}:{entry}",
        stream=_stream(name, fields.get("stream", "")),
        entry=fields.get("id", ""),
        reason=fields.get("reason", ""),
        payload=payload if isinstance(payload, dict) else {},
        at=entry_order(entry)[0] * 1_000,
        truncated="truncated" in fields,
    )


def _stream(name: str, stream: str) -> str:
    """The stream that a letter came from; anybody may write letters, and must not make us write elsewhere."""
    return stream if stream in {f"{name}.{kind}" for kind in ("requests", "progress", "results")} else f"{name}.results"
