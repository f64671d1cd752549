"""The fast paths of one database, in front of the general path, which defines the behaviour.

A store has one, or none. Each method takes a common case and answers None if the general path must be taken; what it
writes is what the general path would write. Its first part is called by the store and is a transaction of its own; the
second part is called by operations, within theirs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from hanbeon.clock import Clock
from hanbeon.domain.event_groups import batch_of, before_jobs, job_text
from hanbeon.domain.job import Claimed, LaneName, NewJob
from hanbeon.domain.lifecycle import AttemptStatus, Reason, State
from hanbeon.domain.outcome import AttemptEnd, Returned
from hanbeon.store.fast import lane_claim
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest, LanePosition
from hanbeon.store.operations.complete import Completed, CompletionReport, emit_end, event_factory_of, wake_for_slots
from hanbeon.store.operations.dependencies import meet_dependents
from hanbeon.store.operations.end_hooks import run_end_hooks
from hanbeon.store.operations.enqueue import Enqueued, Make, RowVersion
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.records import LANE_MASK
from hanbeon.store.statements import add_statements
from hanbeon.store.tx import Tx, to_json


async def succeed(tx: Tx, lanes: LaneCache, reports: Mapping[tuple[int, int], CompletionReport]) -> list[Completed]:
    """Apply the plain successes of one instance; those missing from the answer are left as they were."""
    instance = next((report.instance for report in reports.values()), None)
    returned = {
        report.seq: (report.fence, report.outcome.result)
        for report in reports.values()
        if isinstance(report.outcome, Returned) and report.instance == instance
    }
    if instance is None or not returned:
        return []
    rows = await tx.fetch("succeed", to_json(list(returned)), to_json(returned), instance)
    if not rows:
        return []
    await lanes.learn(tx, [row["lane"] for row in rows])
    ending = AttemptEnd(Reason.SUCCEEDED, AttemptStatus.COMPLETED, 0)
    build = event_factory_of(ending, rows[0]["now"])
    for row in rows:
        emit_end(tx, lanes, row, build, seen=True)
    await meet_dependents(tx, lanes, [row["seq"] for row in rows])
    await run_end_hooks(tx, lanes, rows)
    wake_for_slots(tx, lanes, rows)
    return [Completed(row["seq"], row["fence"], ending.state, ending.reason, row["now"]) for row in rows]


add_statements(Path(__file__).with_name("statements.sql"))
# A lane whose batch was refused is one of a graph, most likely: every try would fail, and cost a round trip.
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


class FastPath(ABC):
    """The fast paths that both databases have; a subclass has what differs."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._refused_until: dict[int, float] = {}

    async def enqueue_one(self, lanes: LaneCache, job: NewJob, precondition: RowVersion | None) -> Enqueued | None:
        """Create a job, if the precondition holds."""
        return None

    def in_bulk(self, jobs: Sequence[NewJob]) -> Make | None:
        """Return the operation that creates these jobs."""
        return None

    async def claim(self, lanes: LaneCache, request: ClaimRequest) -> ClaimAnswer | None:
        """Claim the jobs of a lane after the request's position."""
        behind = request.behind
        if behind is None or not lanes.knows(behind.lane):
            return None
        taken = await self._claim(lanes.name(behind.lane), behind, request)
        if taken is None:
            return None
        place = LanePosition(behind.lane, taken.rank, taken.jobs[-1].seq)
        return ClaimAnswer(taken.jobs, request.cursor, place, more=len(taken.jobs) == request.want)

    async def succeed(self, lanes: LaneCache, jobs: Sequence[Claimed], results: Sequence[str | None]) -> Ended | None:
        """End attempts of one instance with the same fence, if nothing is to be done besides."""
        batch = self._successes(lanes, jobs, results)
        if batch is None:
            return None
        ended = await self._succeed(lanes, batch)
        if ended is None:
            until = self._clock.monotonic() + _REFUSED_SECONDS
            self._refused_until.update({job.lane: until for job in jobs})
        return ended

    @abstractmethod
    async def _claim(self, name: LaneName, behind: LanePosition, request: ClaimRequest) -> Claims | None:
        """Claim jobs of a lane. None: nothing was written."""

    @abstractmethod
    async def _succeed(self, lanes: LaneCache, successes: Successes) -> Ended | None:
        """End all of these attempts, or none; with what that means for their dependents, or none if there are any."""

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

    # Within a transaction; see `FastSteps`.

    async def enqueue_within(self, tx: Tx, lanes: LaneCache, job: NewJob) -> Enqueued | None:
        return None

    async def claim_lane(
        self, tx: Tx, lanes: LaneCache, behind: LanePosition, request: ClaimRequest, cursor: int, *, alone: bool
    ) -> ClaimAnswer:
        return await lane_claim.claim_lane(tx, lanes, behind, request, cursor, alone=alone)

    async def succeed_within(
        self, tx: Tx, lanes: LaneCache, reports: Mapping[tuple[int, int], CompletionReport]
    ) -> list[Completed]:
        return await succeed(tx, lanes, reports)

    async def copy_jobs(self, tx: Tx, lanes: LaneCache, jobs: Sequence[NewJob]) -> list[Enqueued] | None:
        return None

    async def copy_rows(self, tx: Tx, table: str, rows: Sequence[msgspec.Struct], *, now: str | None = None) -> bool:
        return False


def _body(lanes: LaneCache, texts: dict[int, list[str]]) -> str:
    """Return the events, one group for each lane."""
    names = {lane: lanes.name(lane) for lane in texts}
    return batch_of(
        [
            (before_jobs(Reason.SUCCEEDED, State.SUCCEEDED, names[lane].queue, names[lane].task, _STATUS), jobs)
            for lane, jobs in texts.items()
        ]
    )
