"""The disk of a simulated machine: what was not synced when the power fails may be lost, torn or reordered.

It is a file system of SQLite (VFS) over the real one: files hold all that was written, and a log has what of it is not
synced. Creating and deleting files counts as synced at once.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from hanbeon.testing.simulation.plan import Fault, Moment
from hanbeon.testing.simulation.world import World, current_node

VFS = "hanbeon-simulated"
_SECTOR = 512
_SHARES = (0.0, 0.0, 0.5, 0.9)
"""The probabilities, one a power cut, that a write that was not synced is on the disk nevertheless."""


class _Change(NamedTuple):
    """A write that is not synced: what was there, what is now, and the file's sizes; truncated if there is no text."""

    offset: int
    old: bytes
    new: bytes | None
    old_size: int


class Disk:
    def __init__(self, world: World) -> None:
        self._world = world
        self._choices = random.Random(f"disk-{world.seed}")
        self._unsynced: dict[str, list[_Change]] = {}
        self.is_off = False
        """The power has failed: nothing reaches the files any more."""
        self.failing: Fault | None = None
        """The fault that has switched it off in the middle of a call of SQLite, at whose end the machine is."""
        self.full_until = 0.0
        self._vfs = _Vfs(self)

    def wrote(self, path: str, change: _Change) -> None:
        self._unsynced.setdefault(path, []).append(change)

    def synced(self, path: str) -> None:
        self._unsynced.pop(path, None)

    def all_synced(self) -> None:
        """Forget what files had in them that were replaced."""
        self._unsynced.clear()

    @property
    def is_full(self) -> bool:
        return self._world.now < self.full_until

    def settle(self) -> None:
        """Leave what a power cut leaves: all that was synced, and any part of the rest. Nobody has a file open."""
        share, has_grown, lost = self._choices.choice(_SHARES), self._choices.random() < 0.5, 0
        for path, changes in self._unsynced.items():
            if Path(path).exists():
                lost += self._settle(path, changes, share, has_grown)
        self._unsynced.clear()
        self.is_off = False
        self._world.note(None, f"the disk has lost {lost} writes")

    def _settle(self, path: str, changes: list[_Change], share: float, has_grown: bool) -> int:
        """`has_grown`: a file has the size that it was given even where it lacks the content, and zeros there."""
        lost, size = 0, Path(path).stat().st_size
        with open(path, "r+b") as file:
            for change in reversed(changes):
                file.seek(change.offset)
                file.write(change.old)
                file.truncate(change.old_size)
            for change in changes:
                kept = self._kept(change, share)
                lost += kept is not change.new
                if change.new is None:
                    if kept is not None:
                        file.truncate(change.offset)
                elif kept:
                    file.seek(change.offset)
                    file.write(kept)
            if has_grown:
                file.truncate(max(size, file.seek(0, 2)))
        return lost

    def _kept(self, change: _Change, share: float) -> bytes | None:
        """Return what is on the disk of a write: all, its first sectors, or nothing; `b""` for no truncation."""
        if self._choices.random() < share:
            return change.new
        if change.new is None:
            return b""
        sectors = self._choices.randint(0, len(change.new) // _SECTOR) if share else 0
        kept = change.new[: sectors * _SECTOR]
        return change.new if len(kept) == len(change.new) else kept


class _Vfs(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        super().__init__(VFS, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> _File:
        return _File(self.disk, name, flags)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._disk, self._node = disk, current_node.get()
        self._path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        super().__init__("", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:
        if self._disk.is_off:
            return
        size, new = self.xFileSize(), bytes(data)
        if self._disk.is_full and offset + len(new) > size:
            raise apsw.FullError("simulated: the disk is full")
        old = super().xRead(min(len(new), size - offset), offset) if offset < size else b""
        self._disk.wrote(self._path, _Change(offset, old, new, size))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        if self._disk.is_off:
            return
        size = self.xFileSize()
        old = super().xRead(size - newsize, newsize) if newsize < size else b""
        self._disk.wrote(self._path, _Change(newsize, old, None, size))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        if self._disk.is_off:
            return
        if self._node is not None and (fault := self._node.due(Moment.SYNC)) is not None:
            self._disk.is_off, self._disk.failing = True, fault
            raise apsw.IOError("simulated: the power fails before a sync")
        super().xSync(flags)
        self._disk.synced(self._path)
