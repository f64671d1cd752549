"""Marks a process that imports a module only to find a task's function in it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from hanbeon.errors import AppNotOpen
from hanbeon.rule import Rule

_depth = 0


@contextlib.contextmanager
def in_worker_process() -> Iterator[None]:
    global _depth  # noqa: PLW0603 - a fact of the process
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


def refuse_to_open() -> None:
    """Raise in a worker process: a program without a main guard would open the database and start workers in it."""
    if _depth:
        raise AppNotOpen(Rule("opened_on_import"))
