"""Signal handlers of a process that works until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator

from hanbeon.engine.terminal import Terminal


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
