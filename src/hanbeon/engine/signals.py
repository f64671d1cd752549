"""Signal handlers of a process that works until it is stopped, and the end of its terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator


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


@contextlib.contextmanager
def handling_signals(stop: Callable[[], None], reload: Callable[[], None]) -> Iterator[None]:
    """SIGTERM and SIGINT call `stop`, each time; SIGHUP calls `reload`, or `stop` where the terminal is gone."""
    loop = asyncio.get_running_loop()
    terminal = Terminal()
    signals = {
        signal.SIGTERM: stop,
        signal.SIGINT: stop,
        signal.SIGHUP: lambda: stop() if terminal.is_gone else reload(),
    }
    for number, handler in signals.items():
        loop.add_signal_handler(number, handler)
    # The parent may have blocked it until there is a handler.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP])
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
