"""The SIGTERM of a worker process: it ends a body at once, unless the body has asked to notice it."""

from __future__ import annotations

import ctypes
import enum
import os
import signal
import sys
from types import FrameType

_set_handler = ctypes.pythonapi.PyOS_setsig
_set_handler.argtypes, _set_handler.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
_get_handler = ctypes.pythonapi.PyOS_getsig
_get_handler.argtypes, _get_handler.restype = [ctypes.c_int], ctypes.c_void_p


class Phase(enum.Enum):
    WAITING = enum.auto()
    """No job: it ends the process."""
    JOB = enum.auto()
    """A function is loaded or runs: it ends the process, unless `notice` was called."""
    REPORT = enum.auto()
    """The body has ended: its outcome is sent first."""


class StopSignal:
    """`received` is true after a SIGTERM that has not ended the process.

    While a body runs that has not asked, the kernel's default action is in force beneath the handler that Python knows:
    handlers of Python do not run inside C, where a body may spend hours. A body that installs a handler of its own
    replaces both.
    """

    def __init__(self) -> None:
        self.received = False
        self._phase = Phase.WAITING
        self._is_noticed = False
        self._install()
        self._of_python = _get_handler(signal.SIGTERM)

    def begin(self) -> None:
        """Let it end the process at once, and drop the handlers that were installed meanwhile."""
        self._is_noticed = False
        self._install()
        self._phase = Phase.JOB
        _set_handler(signal.SIGTERM, int(signal.SIG_DFL))

    def notice(self) -> None:
        """Let it set `received` from here on instead; from any thread."""
        if self._is_noticed or self._phase is not Phase.JOB:
            return
        self._is_noticed = True
        if signal.getsignal(signal.SIGTERM) == self._handle:  # Otherwise it is the body's own.
            # Not `signal.signal`, which is for the main thread only.
            _set_handler(signal.SIGTERM, self._of_python)

    def report(self) -> None:
        """Let it wait until the outcome of the body is sent."""
        self._phase = Phase.REPORT
        self._install()

    def wait(self) -> bool:
        """Let it end the process while there is no job; return False if it came before."""
        self._phase = Phase.WAITING
        return not self.received

    def _install(self) -> None:
        signal.signal(signal.SIGTERM, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._phase is Phase.WAITING:
            sys.exit(0)
        if self._phase is Phase.JOB and not self._is_noticed:
            # It came before `begin` had an effect, or after a body has put back the handler that it had replaced.
            _set_handler(signal.SIGTERM, int(signal.SIG_DFL))
            os.kill(os.getpid(), signal.SIGTERM)
        self.received = True
