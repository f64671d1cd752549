"""Names of queues on a command line."""

from __future__ import annotations

from collections.abc import Iterable

from hanbeon.errors import NotFound
from hanbeon.tasks.options import did_you_mean


def check_queue(name: str, known: Iterable[str], remedy: str = "; `hanbeon queues` lists them") -> None:
    """Refuse a queue that is not there, with the nearest one that is."""
    known = list(known)
    if name not in known:
        raise NotFound(f"there is no queue {name!r}{did_you_mean(name, known) or remedy}")
