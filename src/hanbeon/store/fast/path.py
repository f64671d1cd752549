"""The fast path of claims and successes: a batch of jobs of one lane, or of attempts that succeeded plainly.

Whatever is not as common as that is not found by its statements, and takes the general path. A batch is
written with its event, whose shared part is encoded once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from hanbeon.clock import Clock, SystemClock
from hanbeon.domain.event_groups import batch_of, before_jobs, job_text
from hanbeon.domain.job import Claimed, LaneName
from hanbeon.domain.lifecycle import AttemptStatus, Reason, State
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest, LanePosition
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.records import LANE_MASK

# A lane whose batch was refused is one of a graph, most likely: every try would be in vain, and cost a round trip.
_REFUSED_SECONDS = 1.0
_STATUS = ("status", AttemptStatus.COMPLETED.value)


class Successes(NamedTuple):
    """Plain successes of one instance with the same fence, and their event."""

    instance: int
    fence: int
    seqs: list[int]
    results: Sequence[str | None]
    body: str

    @property
    def alike(self) -> bool:
        """True if all have the same result."""
        return self.results.count(self.results[0]) == len(self.results)


class Claims(NamedTuple):
    """The claimed jobs of a lane in their order, at least one, and the rank of the last."""

    jobs: list[Claimed]
    rank: int


class Ended(NamedTuple):
    """The instant at which attempts ended, and the hints that follow."""

    at: int
    hints: Collection[str] = ()


class BatchWriter(Protocol):
    """The statements of one database. Each is a transaction by itself; None: nothing was written."""

    async def claim(self, name: LaneName, behind: LanePosition, request: ClaimRequest) -> Claims | None:
        """Claim jobs of a lane."""
        ...

    async def succeed(self, lanes: LaneCache, successes: Successes) -> Ended | None:
        """End all of these attempts, or none; with what that means for their dependents, or none if there are any."""
        ...


class FastPath:
    """Claims and ends batches of jobs. Answers None if the general path must be taken."""

    def __init__(self, writer: BatchWriter, clock: Clock | None) -> None:
        self._writer = writer
        self._clock = clock or SystemClock()
        self._refused_until: dict[int, float] = {}

    async def claim(self, lanes: LaneCache, request: ClaimRequest) -> ClaimAnswer | None:
        """Claim the jobs of a lane after the request's position."""
        behind = request.behind
        if behind is None or not lanes.knows(behind.lane):
            return None
        taken = await self._writer.claim(lanes.name(behind.lane), behind, request)
        if taken is None:
            return None
        place = LanePosition(behind.lane, taken.rank, taken.jobs[-1].seq)
        return ClaimAnswer(taken.jobs, request.cursor, place, more=len(taken.jobs) == request.want)

    async def succeed(self, lanes: LaneCache, jobs: Sequence[Claimed], results: Sequence[str | None]) -> Ended | None:
        """End attempts of one instance with the same fence, if nothing is to be done besides."""
        batch = self._successes(lanes, jobs, results)
        if batch is None:
            return None
        ended = await self._writer.succeed(lanes, batch)
        if ended is None:
            until = self._clock.monotonic() + _REFUSED_SECONDS
            self._refused_until.update({job.lane: until for job in jobs})
        return ended

    def _successes(self, lanes: LaneCache, jobs: Sequence[Claimed], results: Sequence[str | None]) -> Successes | None:
        fence = jobs[0].fence
        texts: dict[int, list[str]] = {}
        for job in jobs:
            text = job_text(job.id, fence, job.started_at)
            if (known := texts.get(job.lane)) is None:
                texts[job.lane] = [text]
            else:
                known.append(text)
        seqs = [job.seq for job in jobs]
        if not self._are_plain(lanes, texts.keys()) or len(set(seqs)) < len(seqs):
            return None
        return Successes(jobs[0].instance, fence, seqs, results, _body(lanes, texts))

    def _are_plain(self, lanes: LaneCache, of: Iterable[int]) -> bool:
        if self._refused_until:
            now = self._clock.monotonic()
            self._refused_until = {lane: until for lane, until in self._refused_until.items() if until > now}
            if not self._refused_until.keys().isdisjoint(of):
                return False
        return all(lanes.knows(lane) and lane & LANE_MASK not in lanes.hooked for lane in of)


def _body(lanes: LaneCache, texts: dict[int, list[str]]) -> str:
    """Return the events, one group for each lane."""
    names = {lane: lanes.name(lane) for lane in texts}
    return batch_of(
        [
            (before_jobs(Reason.SUCCEEDED, State.SUCCEEDED, names[lane].queue, names[lane].task, _STATUS), jobs)
            for lane, jobs in texts.items()
        ]
    )
