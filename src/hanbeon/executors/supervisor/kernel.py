"""Linux system calls of the supervisor that Python has no function for, its clock, and its fork of a session leader."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import resource
import signal
import time
from collections.abc import Sequence
from typing import Any, NoReturn

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


def clear(descriptor: int) -> None:
    try:
        while os.read(descriptor, 4096):
            pass
    except BlockingIOError:
        pass


_HIGH = 100  # Above every number that a descriptor is to have in the new process.


def start(spec: dict[str, Any], descriptors: Sequence[int]) -> int:
    """Return the pid of the new process, the leader of a session and group. Raises OSError if it cannot be run."""
    read, write = os.pipe2(os.O_CLOEXEC)  # Closed by a successful exec; a failed one writes its errno.
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            _exec(spec, descriptors, parent)
        except BaseException as error:
            known = error.errno if isinstance(error, OSError) else None
            os.write(write, str(known or errno.EINVAL).encode())
        finally:
            os._exit(127)
    os.close(write)
    with open(read, "rb") as answer:
        code = answer.read()
    if code:
        os.waitpid(pid, 0)
        raise OSError(int(code), os.strerror(int(code)), spec["argv"][0])
    return pid


def _exec(spec: dict[str, Any], descriptors: Sequence[int], parent: int) -> NoReturn:
    os.setsid()
    die_with_parent(parent)
    _restore_signals()
    if spec["cwd"] is not None:
        os.chdir(spec["cwd"])
    # Moved out of the way first: the target number of one may be the present number of another.
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH) for descriptor in descriptors]
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor, target in zip(moved, spec["targets"], strict=True):
        os.dup2(descriptor, target)
    for name, limit in spec["limits"].items():
        kind = getattr(resource, f"RLIMIT_{name}")
        highest = resource.getrlimit(kind)[1]
        lowest = limit if highest == resource.RLIM_INFINITY else min(limit, highest)
        resource.setrlimit(kind, (lowest, lowest))
    os.execvpe(spec["argv"][0], spec["argv"], spec["env"])


def _restore_signals() -> None:
    """The supervisor ignores some, and ignored signals stay ignored after exec."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
