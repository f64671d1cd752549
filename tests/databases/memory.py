"""A folder in memory, where syncing a file costs nothing."""

import os
from pathlib import Path

_TMPFS = Path("/dev/shm")
_NEEDED = 4 * 1024**3
"""Containers often get 64 MB, which a run would fill."""


def memory_folder() -> Path | None:
    """Return the machine's tmpfs if a run may write and execute files there and it has enough room."""
    if not _TMPFS.is_dir() or not os.access(_TMPFS, os.W_OK):
        return None
    system = os.statvfs(_TMPFS)
    executable = not system.f_flag & os.ST_NOEXEC
    return _TMPFS if executable and system.f_bavail * system.f_frsize >= _NEEDED else None
