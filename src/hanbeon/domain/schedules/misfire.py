"""What becomes of fires whose time has come, and of those that passed while nobody looked. Pure planning.

A plan stays small and quick whatever was missed: after a year without any instance, a schedule of every second has
thirty million fires behind it. The newest are found by halving spans of time, and the rest is summed up in `dropped`.
"""

from __future__ import annotations

import enum
from bisect import bisect_left

import msgspec

from hanbeon.domain.schedules.fire_times import Timing
from hanbeon.domain.schedules.zones import MICROS

RECORDED = 100
"""The most fires that one plan lists without an execution, for the history; older ones are summed up."""
COUNTED = 1_000
"""How far those are counted."""
ON_TIME = 1_000
"""The most fires that are on time in one plan; the others are still due, and come with the next plan."""


class Misfire(enum.StrEnum):
    """What happens to fires that were missed: one execution for all, none, or one for each."""

    COALESCE = "coalesce"
    SKIP = "skip"
    ALL = "all"


class Overlap(enum.StrEnum):
    """What a fire does while an execution of its task is unfinished."""

    SKIP = "skip"
    ALLOW = "allow"
    QUEUE_ONE = "queue_one"


class MisfireOutcome(enum.StrEnum):
    """What a fire comes to: an execution, part of a later fire's execution, or nothing."""

    DUE = "due"
    COALESCED = "coalesced"
    MISSED = "missed"


class PlannedFire(msgspec.Struct, frozen=True):
    """One fire of a plan, and what becomes of it."""

    at: int
    outcome: MisfireOutcome


class Dropped(msgspec.Struct, frozen=True):
    """Fires that came to nothing and are not listed: from `first` on, all before `before`.

    `count` is their number if `exact`; otherwise there are at least so many.
    """

    first: int
    before: int
    count: int
    exact: bool
    outcome: MisfireOutcome


class Plan(msgspec.Struct, frozen=True):
    """What to do now: `fires` in order of time, and when to look again.

    `last` is what the next plan begins behind. `next_fire_at` is past when there was too much for one plan.
    """

    fires: list[PlannedFire]
    last: int
    next_fire_at: int | None
    dropped: Dropped | None = None


def plan(timing: Timing, last: int, now: int, misfire: Misfire, limit: int, grace_us: int) -> Plan:
    """What becomes of the fires after `last`, up to and including `now`.

    Those at most `grace_us` old are on time, and each is due. Of the older ones `coalesce` runs the newest, unless one
    that is on time stands for them; `all` the newest `limit`, `skip` none.
    """
    on_time_from = now - max(0, grace_us)
    most_run = {Misfire.COALESCE: 1, Misfire.SKIP: 0, Misfire.ALL: max(0, limit)}[misfire]
    idle = MisfireOutcome.COALESCED if misfire is Misfire.COALESCE else MisfireOutcome.MISSED
    most_listed = most_run + RECORDED

    walk = _walk(timing, last, now, COUNTED)
    if walk.to_the_end:
        split = bisect_left(walk.found, on_time_from)
        late, on_time = walk.found[:split], walk.found[split:]
        unlisted = late[: max(0, split - most_listed)]
        late = late[len(unlisted) :]
    else:
        late = _newest(timing, last, on_time_from - 1, most_listed)
        unlisted = _walk(timing, last, late[0] - 1, COUNTED + 1).found if late else []
        walk = _walk(timing, max(last, on_time_from - 1), now, ON_TIME)
        on_time = walk.found

    if on_time and misfire is Misfire.COALESCE:
        most_run = 0  # The next one is there already, and stands for them.
    run_from = len(late) - most_run
    fires = [PlannedFire(at, MisfireOutcome.DUE if place >= run_from else idle) for place, at in enumerate(late)]
    fires += [PlannedFire(at, MisfireOutcome.DUE) for at in on_time]
    return Plan(fires, fires[-1].at if fires else last, walk.following, _dropped(unlisted, late, idle))


def _dropped(unlisted: list[int], late: list[int], outcome: MisfireOutcome) -> Dropped | None:
    if not unlisted:
        return None
    return Dropped(unlisted[0], late[0], min(len(unlisted), COUNTED), len(unlisted) <= COUNTED, outcome)


class _Walk(msgspec.Struct, frozen=True):
    """The fires of a span from its beginning, and the first one behind them."""

    found: list[int]
    following: int | None
    to_the_end: bool


def _walk(timing: Timing, after: int, upto: int, most: int) -> _Walk:
    """The first fires after one instant, up to and including another."""
    found: list[int] = []
    for fire in timing.fires(after):
        if fire.at > upto or len(found) == most:
            return _Walk(found, fire.at, fire.at > upto)
        found.append(fire.at)
    return _Walk(found, None, True)


def _newest(timing: Timing, after: int, upto: int, most: int) -> list[int]:
    """The last `most` fires of a span, at a cost that does not grow with the span.

    Fires are whole seconds, so that a span holds one fire more at the most for each second that it is longer: some
    span that ends at `upto` holds exactly `most`, unless all together are fewer.
    """
    fires = _walk(timing, after, upto, most + 1).found
    if len(fires) <= most:
        return fires
    short, long = 0, max(1, most)  # Seconds: a span with too few fires, and one to try.
    while (begin := upto - long * MICROS) > after:
        fires = _walk(timing, begin, upto, most + 1).found
        if len(fires) >= most:
            break
        short, long = long, long * 2
    long = min(long, (upto - after) // MICROS + 1)
    while len(fires) != most:
        middle = (short + long) // 2
        fires = _walk(timing, max(after, upto - middle * MICROS), upto, most + 1).found
        if len(fires) < most:
            short = middle
        else:
            long = middle
    return fires
