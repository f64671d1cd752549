"""The number of a replay, by which paths and callers name it."""

from __future__ import annotations

from typing import Any

from hanbeon.surfaces.exports.errors import ReplayNotFound
from hanbeon.surfaces.numbers import number_of


def replay_number(replay: Any) -> int:
    """Return the number of a replay, which may be given as a number, as text, or as the result that has it."""
    number = number_of(getattr(replay, "replay_id", replay))
    if number is None:
        raise ReplayNotFound(replay)
    return number
