"""Starts the first process of a session: fork and exec out of a process that has no threads."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import resource
import signal
from collections.abc import Sequence
from typing import Any, NoReturn

from hanbeon.executors.supervisor.kernel import die_with_parent

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
