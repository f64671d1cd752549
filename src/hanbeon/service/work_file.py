"""The work file of an audit: records apart by kind and part, and checkpoints, in one file that only grows.

A checkpoint stands for all that was written before it. What follows the last one, or cannot be read, is cut off when
the file is opened again. So a process may be killed at any moment.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import IO, Self
from zlib import crc32

from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule

_HEADER = Struct("<4sBHIII")
_MAGIC = b"hbn1"
_CHECKPOINT = 255
_BUFFERED_BYTES = 8_000_000


class WorkFile:
    """Records of an audit that do not fit into memory. They are read in the order in which they were added."""

    def __init__(self, file: IO[bytes], path: Path | None = None) -> None:
        self._file, self._path = file, path
        self._chunks: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        self._buffers: defaultdict[tuple[int, int], bytearray] = defaultdict(bytearray)
        self._buffered = 0
        self.checkpoint: bytes | None = None
        """The last one."""

    @classmethod
    def temporary(cls) -> Self:
        """Return one that nobody else sees, in the folder for temporary files."""
        return cls(tempfile.TemporaryFile(prefix="hanbeon-verify-"))

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a file with what was written up to its last checkpoint, or create it."""
        try:
            file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        except OSError as error:
            raise InvalidInput(Rule("work_file_unusable", reason=error.strerror), field="resume") from error
        opened = cls(file, path)
        try:
            opened._lock()
            opened._recover()
        except BaseException:
            file.close()
            raise
        return opened

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InvalidInput(Rule("work_file_in_use"), field="resume") from error
        if (begin := self.read_at(0, len(_MAGIC))) and begin != _MAGIC:
            # It would be cut off.
            raise InvalidInput(Rule("no_work_file"), field="resume")

    def add(self, kind: int, part: int, record: bytes) -> None:
        """Append a record."""
        self._buffers[kind, part] += record
        self._buffered += len(record)
        if self._buffered > _BUFFERED_BYTES:
            self._flush()

    def read(self, kind: int, part: int) -> Iterator[bytes]:
        """Yield all records of a part, some at a time."""
        for place, length in self._chunks[kind, part]:
            self._file.seek(place)
            yield self._file.read(length)
        if (buffer := self._buffers.get((kind, part))) is not None:
            yield bytes(buffer)

    def chunks(self, kind: int, part: int) -> list[tuple[int, int]]:
        """Return where each chunk of a part begins and how long it is, so that several can be read in turns."""
        self._flush()
        return self._chunks[kind, part]

    def read_at(self, place: int, length: int) -> bytes:
        self._file.seek(place)
        return self._file.read(length)

    def add_chunk(self, kind: int, part: int, records: bytes) -> None:
        """Append records that are to be read as one chunk."""
        self._flush()
        self._write(kind, part, records)

    def save(self, checkpoint: bytes) -> None:
        """Write a checkpoint, and everything before it, so that they survive a crash of the machine."""
        self._flush()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._write(_CHECKPOINT, 0, checkpoint)
        self._file.flush()
        os.fsync(self._file.fileno())
        self.checkpoint = checkpoint

    @property
    def keeps(self) -> bool:
        """True if checkpoints are of use: the file outlives the process."""
        return self._path is not None

    def close(self) -> None:
        self._file.close()

    def delete(self) -> None:
        """Close it, and delete it if it has a name."""
        self.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _flush(self) -> None:
        for (kind, part), buffer in self._buffers.items():
            if buffer:
                self._write(kind, part, bytes(buffer))
        self._buffers.clear()
        self._buffered = 0

    def _write(self, kind: int, part: int, body: bytes) -> None:
        place = self._file.seek(0, os.SEEK_END)
        self._file.write(_header(kind, part, body) + body)
        if kind != _CHECKPOINT:
            self._chunks[kind, part].append((place + _HEADER.size, len(body)))

    def _recover(self) -> None:
        end, place, found = 0, 0, list[tuple[int, int, int, int]]()
        while (header := self._read_header(place)) is not None:
            kind, part, length, sum_of_body = header
            begin = place + _HEADER.size
            if kind == _CHECKPOINT:
                body = self.read_at(begin, length)
                if crc32(body) != sum_of_body:
                    break
                self.checkpoint, end = body, begin + length
                for each in found:
                    self._chunks[each[0], each[1]].append(each[2:])
                found = []
            else:
                found.append((kind, part, begin, length))
            place = begin + length
        self._file.truncate(end)

    def _read_header(self, place: int) -> tuple[int, int, int, int] | None:
        header = self.read_at(place, _HEADER.size)
        if len(header) < _HEADER.size:
            return None
        magic, kind, part, length, sum_of_body, sum_of_header = _HEADER.unpack(header)
        whole = magic == _MAGIC and crc32(header[:-4]) == sum_of_header
        return (kind, part, length, sum_of_body) if whole else None


def _header(kind: int, part: int, body: bytes) -> bytes:
    header = _HEADER.pack(_MAGIC, kind, part, len(body), crc32(body) if kind == _CHECKPOINT else 0, 0)
    return header[:-4] + crc32(header[:-4]).to_bytes(4, "little")
