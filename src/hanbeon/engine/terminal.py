"""Detects that the terminal of a process is gone."""

from __future__ import annotations

import os
import signal


class Terminal:
    """SIGHUP has two meanings: "read your files again", and "your terminal is gone". Only the kernel can tell.

    It takes the terminal from every process of its session before it signals them. Who ignores the signal from the
    start, as under nohup, wants to outlive the terminal.
    """

    def __init__(self) -> None:
        self._had = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN and _has_terminal()

    @property
    def is_gone(self) -> bool:
        return self._had and not _has_terminal()


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True
