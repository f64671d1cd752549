"""The overview of an installation, for pages that show it all the time."""

from __future__ import annotations

from hanbeon.domain.lifecycle import State
from hanbeon.surfaces.schema import Result

LATE_MOST = 10


class LateQueue(Result, frozen=True, kw_only=True):
    """A queue with the wait of its oldest ready job: more than a minute, or any while it is paused."""

    name: str
    oldest_ready: float


class EngineOverview(Result, frozen=True, kw_only=True):
    """The numbers of the whole installation, for pages that show them all the time. Durations are seconds.

    `late`: the first of the `late_queues`, which are not paused, the longest wait first. `paused`: the first of the
    `paused_queues` with ready jobs. Waits are those of the first thousand lanes with
    ready jobs. `workers`: those that are alive; `slots`: how many jobs they can run at once.
    """

    at: str
    states: dict[State, int]
    queues: int
    oldest_ready: float | None
    late_queues: int
    late: list[LateQueue]
    paused_queues: int
    paused: list[LateQueue]
    workers: int
    slots: int
