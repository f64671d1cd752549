"""Linux system calls of the supervisor that Python has no function for, and its clock."""

from __future__ import annotations

import ctypes
import os
import signal
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def adopt_orphans() -> None:
    """Become a subreaper: descendants whose parents die become children of this process."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int) -> None:
    """Have the kernel send SIGKILL when the parent dies. A second line of defence: it does not cover children."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # It had died before this took effect.
        os._exit(1)


def now() -> float:
    """Seconds on a clock that all processes share, that never steps, and that counts while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def wake_on_children() -> int:
    """Return a descriptor that becomes readable when a child ends; poll() would sleep through the signal otherwise."""
    read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return read


def drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 4096):
            pass
    except BlockingIOError:
        pass
