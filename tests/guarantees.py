"""Marks an assertion as one of a guarantee: when it fails, no slow machine is to blame."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_BROKEN = "A guarantee is broken: this is never rerun."


@contextmanager
def guarantee() -> Iterator[None]:
    """Around assertions about what was done and how often; never around waiting for it."""
    try:
        yield
    except AssertionError as error:
        error.add_note(_BROKEN)
        raise


def breaks_a_guarantee(error: BaseException) -> bool:
    return _BROKEN in getattr(error, "__notes__", ())
