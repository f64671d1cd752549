"""Reads what a command prints, as it comes: never more at a time than others on the event loop can wait for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

_CHUNK = 65_536


class Pipe:
    """`theirs` is for the command; it is closed here when it was given away. `heard` is called with each piece."""

    def __init__(self, heard: Callable[[bytes], None]) -> None:
        self._heard = heard
        self._ours, self.theirs = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._ours, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._ours, self._read)
        self._is_open = True

    def drain(self) -> None:
        """Hear what is left, when nobody is left to write more."""
        while self._is_open and self._read():
            pass
        self.close()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._loop.remove_reader(self._ours)
            os.close(self._ours)

    def _read(self) -> bool:
        """Whether there may be more."""
        try:
            data = os.read(self._ours, _CHUNK)
        except (BlockingIOError, InterruptedError):
            return False
        if data:
            self._heard(data)
        else:
            self.close()
        return bool(data)
