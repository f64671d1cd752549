"""The liveliest moment of a replay, for its thumbnail: where most happens and most moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import UNSET

from hanbeon.rendering.replay_format import Header, Record

_WINDOW_MS = 500
_EVENT, _SCORE = 2.0, 10.0
"""Weights: a point that is scored counts as much as everybody crossing ten fields."""


def liveliest_moment(header: Header, records: Iterable[Record], seen: Callable[[int], None] = lambda t: None) -> int:
    """Return its time in milliseconds. Keeps one window of the replay; `seen` is called with the time of each."""
    best, best_at = -1.0, 0
    window, liveliness, moment = 0, 0.0, 0
    last: dict[str, tuple[float, float]] = {}
    for record in records:
        if record.t // _WINDOW_MS != window:
            if liveliness > best:
                best, best_at = liveliness, moment
            window, liveliness = record.t // _WINDOW_MS, 0.0
            moment = record.t
            seen(record.t)
        if record.p is not UNSET:
            for actor, (x, y) in record.p.items():
                before = last.get(actor, (x, y))
                liveliness += abs(x - before[0]) / header.field.width + abs(y - before[1]) / header.field.height
                last[actor] = (x, y)
        if record.event is not UNSET or record.score is not UNSET:
            liveliness += _EVENT if record.score is UNSET else _SCORE
            moment = record.t  # What happened is to be seen, and its caption.
    return moment if liveliness > best else best_at
