"""Plans for fires that are due and for those that were missed while no instance was running.

A plan stays small and fast however much was missed: after a year without any instance, a schedule that fires every
second has missed thirty million fires. The newest are found by bisection, and the rest is summed up in `dropped`.
"""

from __future__ import annotations

import enum
from bisect import bisect_left

import msgspec

from hanbeon.domain.timing.fire_times import Timing
from hanbeon.domain.timing.zones import MICROS

RECORDED = 100
"""The maximum number of fires without an execution that one plan lists for the history; older ones are summed up."""
COUNTED = 1_000
"""The limit up to which those are counted."""
BRIEF_US = 5 * MICROS
"""Fires may be this late for a busy machine or database, rather than for the lack of one."""
ON_TIME = 1_000
"""The maximum number of on-time fires in one plan; the others are still due, and follow in the next plan."""


class Misfire(enum.StrEnum):
    """Handling of missed fires: one execution for all, none, or one for each."""

    COALESCE = "coalesce"
    SKIP = "skip"
    ALL = "all"


class Overlap(enum.StrEnum):
    """Behaviour of a fire while an execution of its task is unfinished."""

    SKIP = "skip"
    ALLOW = "allow"
    QUEUE_ONE = "queue_one"


class MisfireOutcome(enum.StrEnum):
    """The planned outcome of a fire: an execution, part of a later fire's execution, or nothing."""

    DUE = "due"
    COALESCED = "coalesced"
    MISSED = "missed"


class PlannedFire(msgspec.Struct, frozen=True):
    """One fire of a plan, with its outcome."""

    at: int
    outcome: MisfireOutcome


class Dropped(msgspec.Struct, frozen=True):
    """Fires that had no effect and are not listed: from `first` on, all before `before`.

    `count` is their number if `exact`; otherwise a lower bound.
    """

    first: int
    before: int
    count: int
    exact: bool
    outcome: MisfireOutcome


class Plan(msgspec.Struct, frozen=True):
    """The fires to process now in order of time, and when to plan again.

    The next plan starts after `last`. `next_fire_at` is in the past if there was too much for one plan.
    """

    fires: list[PlannedFire]
    last: int
    next_fire_at: int | None
    dropped: Dropped | None = None


def grace_of(timing: Timing, last: int, now: int, grace_us: int) -> int:
    """Return how old a fire may be to be on time, of those after `last` and up to `now`.

    Fires that came due one after the other while nobody looked were missed, even if all of them are within the grace
    time: then only the newest can be on time. A few seconds are no outage, and each of their fires is on time.
    """
    first = next((fire.at for fire in timing.fires(last)), now)
    if now - first <= BRIEF_US + timing.jitter_us:
        return grace_us
    (newest,) = _newest(timing, last, now, 1)
    return grace_us if newest == first else min(grace_us, now - newest)


def plan(timing: Timing, last: int, now: int, misfire: Misfire, limit: int, grace_us: int) -> Plan:
    """Plan the fires after `last`, up to and including `now`.

    Those at most `grace_us` old are on time, and each is due. Of the older ones `coalesce` runs the newest, unless an
    on-time fire stands for them; `all` runs the newest `limit`, `skip` none.
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
        most_run = 0  # An on-time fire stands for them.
    run_from = len(late) - most_run
    fires = [PlannedFire(at, MisfireOutcome.DUE if place >= run_from else idle) for place, at in enumerate(late)]
    fires += [PlannedFire(at, MisfireOutcome.DUE) for at in on_time]
    return Plan(fires, fires[-1].at if fires else last, walk.following, _dropped(unlisted, late, idle))


def _dropped(unlisted: list[int], late: list[int], outcome: MisfireOutcome) -> Dropped | None:
    if not unlisted:
        return None
    return Dropped(unlisted[0], late[0], min(len(unlisted), COUNTED), len(unlisted) <= COUNTED, outcome)


class _Walk(msgspec.Struct, frozen=True):
    """The first fires of a time span, and the next one after them."""

    found: list[int]
    following: int | None
    to_the_end: bool


def _walk(timing: Timing, after: int, upto: int, most: int) -> _Walk:
    """Collect the first fires after one instant, up to and including another."""
    found: list[int] = []
    for fire in timing.fires(after):
        if fire.at > upto or len(found) == most:
            return _Walk(found, fire.at, fire.at > upto)
        found.append(fire.at)
    return _Walk(found, None, True)


def _newest(timing: Timing, after: int, upto: int, most: int) -> list[int]:
    """Return the last `most` fires of a time span, at a cost that does not grow with the span.

    Fires are whole seconds, so a span holds at most one more fire for each second that it is longer: some span that
    ends at `upto` holds exactly `most`, unless there are fewer in total.
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
