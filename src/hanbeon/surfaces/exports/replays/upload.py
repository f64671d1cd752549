"""Uploads: a replay on its way to the disk, checked and hashed as it arrives, in bounded memory."""

from __future__ import annotations

import asyncio
import enum
import hashlib
import os
from collections.abc import AsyncIterable, Awaitable, Callable
from pathlib import Path

from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.surfaces.exports.rendering.replay_file import ReplayCheck, ReplayFacts

_WRITE_BYTES = 1 << 18


class Fate(enum.Enum):
    """The owner of an upload's file."""

    UNWANTED = "nobody: it is deleted"
    UNKNOWN = "perhaps a replay: its answer was lost, and its row decides"
    OWNED = "a replay"


class Upload:
    """A whole file that has no owner yet. `number`: the row by which it is deleted if it gets none."""

    def __init__(self, root: Path, file: str, name: str, number: int) -> None:
        self.root, self.file, self.name, self.number = root, file, name, number
        self.fate = Fate.UNWANTED
        self.bytes = 0
        self.checksum = ""
        self.facts: ReplayFacts | None = None

    async def write(self, parts: AsyncIterable[bytes], reserved: int, reserve: Callable[[int], Awaitable[int]]) -> None:
        """Write all parts to the disk; raises if they are no replay.

        `reserve` is asked for more space before the file is larger than `reserved`; it raises if that is too much.
        """
        digest, check = hashlib.sha256(), ReplayCheck()
        descriptor = os.open(self.root / self.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)

        def add(data: bytes) -> None:
            check.feed(data)
            digest.update(data)
            with memoryview(data) as rest:
                while rest:
                    rest = rest[os.write(descriptor, rest) :]

        def finish() -> None:
            self.facts = check.finish()
            os.fsync(descriptor)

        try:
            waiting = bytearray()
            async for part in parts:
                self.bytes += len(part)
                if self.bytes > reserved:
                    reserved = await reserve(self.bytes)
                waiting += part
                if len(waiting) >= _WRITE_BYTES:
                    data, waiting = bytes(waiting), bytearray()
                    await asyncio.to_thread(add, data)
            if not self.bytes:
                raise InvalidInput(Rule("not_empty"), field="file")
            await asyncio.to_thread(add, bytes(waiting))
            await asyncio.to_thread(finish)
        finally:
            os.close(descriptor)
        self.checksum = digest.hexdigest()
