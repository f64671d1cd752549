"""Fire times: strictly increasing, in the schedule's time zone, with rules for times that clocks skip or repeat."""

from __future__ import annotations

import datetime as dt
import enum
import hashlib
from collections.abc import Iterator

import msgspec

from hanbeon.domain.job import LAST_INSTANT_US, LONGEST_US
from hanbeon.domain.timing.cron import Expression, parse
from hanbeon.domain.timing.zones import MICROS, jump_near, local, offsets, seconds, wall_at
from hanbeon.zones import zone_of

FIRST_INSTANT_US = -LONGEST_US
LONGEST_JITTER_US = 86_400 * MICROS


class ClockGap(enum.StrEnum):
    """Rule for a time that the clocks skip: fire once at the transition, or not at all that day."""

    FIRE = "fire"
    SKIP = "skip"


class ClockFold(enum.StrEnum):
    """Rule for a time that the clocks show twice: fire at the first, at the second, or at both."""

    FIRST = "first"
    SECOND = "second"
    BOTH = "both"


class NoteKind(enum.StrEnum):
    GAP = "gap"
    FOLD_FIRST = "fold_first"
    FOLD_SECOND = "fold_second"


class Note(msgspec.Struct, frozen=True):
    """A remark on an unusual fire, shown in previews; `wall`: the time of day that the schedule names."""

    kind: NoteKind
    text: str
    wall: dt.datetime


class Fire(msgspec.Struct, frozen=True):
    """An instant at which a schedule fires. It identifies the fire permanently; jitter moves the work, never this."""

    at: int
    note: Note | None = None


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """The fire times of a schedule; validated by `check_timing` before it is stored.

    One of `cron`, `every_us` and `run_at`. A period counts from `starts_at`, or from 1970 UTC, so that all instances
    compute the same phase; clock changes do not move it. It may fire from `starts_at` to `ends_at`, both included.

    If `gap` and `fold` are not set, expressions that name times of day fire once a day (at the transition; in the first
    pass), and those with `*` at the start of minute or hour follow elapsed time (skipped times do not fire, repeated
    times fire twice).
    """

    timezone: str
    cron: str | None = None
    every_us: int | None = None
    run_at: int | None = None
    starts_at: int | None = None
    ends_at: int | None = None
    jitter_us: int = 0
    gap: ClockGap | None = None
    fold: ClockFold | None = None

    def next_fire(self, after: int) -> Fire | None:
        """Return the first fire strictly after an instant; None if there is none."""
        first = FIRST_INSTANT_US if self.starts_at is None else max(self.starts_at, FIRST_INSTANT_US)
        after = max(after, first - 1)
        if self.cron is not None:
            fire = self._next_of_cron(after)
        elif self.every_us is not None:
            anchor = self.starts_at or 0
            fire = Fire(anchor + ((after - anchor) // self.every_us + 1) * self.every_us)
        else:
            fire = Fire(self.run_at) if self.run_at is not None and self.run_at > after else None
        last = LAST_INSTANT_US if self.ends_at is None else min(self.ends_at, LAST_INSTANT_US)
        return fire if fire is not None and fire.at <= last else None

    def fires(self, after: int) -> Iterator[Fire]:
        """Yield all fires after an instant, in order; for most expressions this never ends."""
        while (fire := self.next_fire(after)) is not None:
            yield fire
            after = fire.at

    def _next_of_cron(self, after: int) -> Fire | None:
        assert self.cron is not None
        zone, found = zone_of(self.timezone), None
        for expression in parse(self.cron):
            fire = self._next_of(expression, zone, after // MICROS)
            # At the same instant, prefer the one with a note.
            if fire and (found is None or (fire.at, fire.note is None) < (found.at, found.note is None)):
                found = fire
        return found

    def _next_of(self, expression: Expression, zone: dt.tzinfo, after: int) -> Fire | None:
        """Return the next fire of one expression, after a whole second.

        Wall times are searched in their own order, and each is then mapped to an instant. The two orders differ only
        where the clocks show an hour twice, so only a search that begins there needs more than the next wall time.
        """
        gap = self.gap or (ClockGap.FIRE if expression.fixed else ClockGap.SKIP)
        fold = self.fold or (ClockFold.FIRST if expression.fixed else ClockFold.BOTH)
        try:
            moment = local(after, zone)
        except OverflowError:
            return None
        wall, inclusive = moment.replace(tzinfo=None, fold=0), False
        again_until = None  # While in a second pass: where it ends.
        before, later = offsets(wall, zone)
        if before > later:
            jump = jump_near(wall, before, later, zone)
            begin, end = wall_at(jump + later), wall_at(jump + before)
            if moment.fold:
                again_until = end
                if fold is ClockFold.FIRST:
                    wall, inclusive = end, True
            elif fold is not ClockFold.FIRST:
                following = expression.next_wall(wall) if fold is ClockFold.BOTH else None
                if following is None or following >= end:
                    again = expression.next_wall(begin, inclusive=True)
                    if again is not None and again < end:
                        return Fire((seconds(again) - later) * MICROS, _second_pass(again))
                    wall, inclusive = end, True
        while (candidate := expression.next_wall(wall, inclusive=inclusive)) is not None:
            wall, inclusive = candidate, False
            before, later = offsets(candidate, zone)
            if before == later:
                at, note = seconds(candidate) - before, None
            elif before < later:
                at = jump_near(candidate, before, later, zone)
                if gap is ClockGap.SKIP:
                    wall, inclusive = wall_at(at + later), True
                    continue
                note = _skipped(candidate, wall_at(at + later))
            elif fold is ClockFold.SECOND or (again_until is not None and candidate < again_until):
                at, note = seconds(candidate) - later, _second_pass(candidate)
            else:
                at, note = seconds(candidate) - before, _first_pass(candidate)
            # A safeguard: with the transitions of today's zones, at least two days apart, it always holds.
            if at > after:
                return Fire(at * MICROS, note)
        return None


def jitter_of(schedule_id: str, fire_at: int, jitter_us: int) -> int:
    """Return the delay of a fire's work after its instant: 0 to `jitter_us`, equal on every instance."""
    if jitter_us <= 0:
        return 0
    digest = hashlib.blake2b(f"{schedule_id}:{fire_at}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) * (jitter_us + 1) >> 64


def _skipped(wall: dt.datetime, jump: dt.datetime) -> Note:
    when = _time(jump) if jump.date() == wall.date() else f"{jump.date()} {_time(jump)}"
    text = f"{_time(wall)} does not exist on {wall.date()}; fires at {when}, when the clocks jump"
    return Note(NoteKind.GAP, text, wall)


def _first_pass(wall: dt.datetime) -> Note:
    return Note(NoteKind.FOLD_FIRST, f"{_time(wall)} comes twice on {wall.date()}; this is the first", wall)


def _second_pass(wall: dt.datetime) -> Note:
    return Note(NoteKind.FOLD_SECOND, f"{_time(wall)} comes twice on {wall.date()}; this is the second", wall)


def _time(wall: dt.datetime) -> str:
    return wall.time().isoformat("auto" if wall.second else "minutes")
