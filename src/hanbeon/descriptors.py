"""The limit of open descriptors: raised for this process, and left as it was for the programs that it starts."""

from __future__ import annotations

import contextlib
import resource

_KIND = resource.RLIMIT_NOFILE
_MOST = 1_048_576
"""Enough for any server; some systems reject a soft limit without end."""
_soft_at_start: list[int] = []
"""Empty unless the limit was raised."""


def descriptor_limit() -> int:
    """Return how many descriptors this process may have open."""
    return _finite(resource.getrlimit(_KIND)[0])


def raise_descriptor_limit() -> None:
    """Raise the soft limit to the hard one. Left to programs of our own: a library must not change its process."""
    soft, hard = resource.getrlimit(_KIND)
    if _finite(soft) < _finite(hard):
        with contextlib.suppress(OSError, ValueError):  # A system with a lower limit of its own.
            resource.setrlimit(_KIND, (_finite(hard), hard))
            _soft_at_start.append(soft)


def restore_descriptor_limit(pid: int) -> None:
    """Give a new process the soft limit that this one was started with.

    Programs that use `select()`, or close every possible descriptor one by one, expect it to be low.
    """
    if _soft_at_start:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, _KIND, (_soft_at_start[0], resource.prlimit(pid, _KIND)[1]))


def _finite(limit: int) -> int:
    return _MOST if limit == resource.RLIM_INFINITY else limit
