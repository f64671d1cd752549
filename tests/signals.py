"""Signals of the test run: Ctrl-C must reach the processes that tests start."""

import signal


def pytest_configure() -> None:
    """Heed SIGINT again: a shell that starts the run in the background ignores it, and every child would, too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
