"""Reads the output of a command as it comes, in pieces small enough not to block the event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

_CHUNK = 65_536


class Pipe:
    """`theirs` is for the command; the supervisor client closes it here. `received` is called with each piece."""

    def __init__(self, received: Callable[[bytes], None]) -> None:
        self._received = received
        self._ours, self.theirs = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._ours, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._ours, self._read)
        self._is_open = True

    def drain(self) -> None:
        """Read what is left, when no writer is left."""
        while self._is_open and self._read():
            pass
        self.close()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._loop.remove_reader(self._ours)
            os.close(self._ours)

    def _read(self) -> bool:
        """Read once; return True if there may be more."""
        try:
            data = os.read(self._ours, _CHUNK)
        except (BlockingIOError, InterruptedError):
            return False
        if data:
            self._received(data)
        else:
            self.close()
        return bool(data)
