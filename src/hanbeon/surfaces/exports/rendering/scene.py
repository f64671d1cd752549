"""The scene of a replay at a moment: interpolated positions, score, and the captions that are shown."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import UNSET

from hanbeon.surfaces.exports.rendering.replay_format import Header, Record

CAPTION_MS = 3_000
CAPTIONS_MOST = 3
LOOKAHEAD_MS = 2_000
"""Positions further apart than this are not joined by a movement: the actor stays, and appears at the next one."""

Position = tuple[float, float]


class Caption(NamedTuple):
    text: str
    team: str | None
    since: int


class Scene(NamedTuple):
    """Everything that is to be seen at `t`."""

    t: int
    positions: dict[str, Position]
    score: dict[str, int]
    captions: tuple[Caption, ...]


class Timeline:
    """Scenes of a replay at moments in ascending order. Keeps the records of the next two seconds and no more."""

    def __init__(self, header: Header, records: Iterable[Record]) -> None:
        self._records: Iterator[Record] = iter(records)
        self._ahead: deque[Record] = deque()
        self._last: dict[str, tuple[int, Position]] = {}
        self._next: dict[str, deque[tuple[int, Position]]] = {actor.id: deque() for actor in header.actors}
        self._score: dict[str, int] = {team.id: 0 for team in header.teams}
        self._captions: deque[Caption] = deque(maxlen=CAPTIONS_MOST)
        self._read_to = -1

    def at(self, t: int) -> Scene:
        """Return the scene at `t`, which must not be before that of the last call."""
        self._read_until(t + LOOKAHEAD_MS)
        while self._ahead and self._ahead[0].t <= t:
            self._apply(self._ahead.popleft())
        while self._captions and self._captions[0].since + CAPTION_MS < t:
            self._captions.popleft()
        positions = {actor: found for actor in self._next if (found := self._position(actor, t)) is not None}
        return Scene(t, positions, dict(self._score), tuple(self._captions))

    def _read_until(self, t: int) -> None:
        while self._read_to <= t:
            record = next(self._records, None)
            if record is None:
                self._read_to = 1 << 62
                return
            self._read_to = record.t
            self._ahead.append(record)
            if record.p is not UNSET:
                for actor, position in record.p.items():
                    self._next[actor].append((record.t, position))

    def _apply(self, record: Record) -> None:
        if record.score is not UNSET:
            self._score.update(record.score)
        if record.text is not UNSET and record.text:
            team = None if record.team is UNSET else record.team
            self._captions.append(Caption(record.text, team, record.t))

    def _position(self, actor: str, t: int) -> Position | None:
        coming = self._next[actor]
        while coming and coming[0][0] <= t:
            self._last[actor] = coming.popleft()
        last = self._last.get(actor)
        if last is None:
            return None
        began, (x, y) = last
        if not coming or coming[0][0] - began > LOOKAHEAD_MS:
            return x, y
        ends, (to_x, to_y) = coming[0]
        share = (t - began) / (ends - began)
        return x + (to_x - x) * share, y + (to_y - y) * share
