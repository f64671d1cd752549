"""The fast path of claims and successes: a batch of jobs of one lane, or of attempts that succeeded plainly.

Whatever is not as common as that is not found by the statements of a strip, and takes the general path. A strip is
written with its event, whose shared part is encoded once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from hanbeon.clock import Clock, SystemClock
from hanbeon.domain.event_strips import batch_of, before_jobs, job_text
from hanbeon.domain.job import Claimed, LaneName
from hanbeon.domain.lifecycle import AttemptStatus, Reason, State
from hanbeon.domain.outcome import Returned
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest, LanePosition
from hanbeon.store.operations.complete import Completed, CompletionReport
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.records import LANE_MASK

# A lane whose strip was refused is one of a graph, most likely: every try would be in vain, and cost a round trip.
_REFUSED_SECONDS = 1.0
_STATUS = ("status", AttemptStatus.COMPLETED.value)


class Successes(NamedTuple):
    """Plain successes of one instance with the same fence, and their event."""

    instance: int
    fence: int
    jobs: list[Claimed]
    results: list[str | None]
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


class StripWriter(Protocol):
    """The statements of one database. Each is a transaction by itself; None: nothing was written."""

    async def claim(self, name: LaneName, behind: LanePosition, request: ClaimRequest) -> Claims | None:
        """Claim jobs of a lane."""
        ...

    async def succeed(self, lanes: LaneCache, successes: Successes) -> Ended | None:
        """End all of these attempts, or none; with what that means for their dependents, or none if there are any."""
        ...


class Strips:
    """Claims and ends strips. Answers None if the general path must be taken."""

    def __init__(self, writer: StripWriter, clock: Clock | None) -> None:
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

    async def succeed(
        self, lanes: LaneCache, reports: Sequence[CompletionReport]
    ) -> tuple[list[Completed], Collection[str]] | None:
        """End the attempts of all these reports, if all of them succeeded; return the ends and the hints to send."""
        strip = self._strip(lanes, reports)
        if strip is None:
            return None
        ended = await self._writer.succeed(lanes, strip)
        if ended is None:
            until = self._clock.monotonic() + _REFUSED_SECONDS
            self._refused_until.update({job.lane: until for job in strip.jobs})
            return None
        at, reason = ended.at, Reason.SUCCEEDED
        return [Completed(job.seq, job.fence, State.SUCCEEDED, reason, at) for job in strip.jobs], ended.hints

    def _strip(self, lanes: LaneCache, reports: Sequence[CompletionReport]) -> Successes | None:
        instance, fence = reports[0].instance, reports[0].fence
        if instance is None:
            return None
        jobs: list[Claimed] = []
        results: list[str | None] = []
        texts: dict[int, list[str]] = {}
        for report in reports:
            job, outcome = report.job, report.outcome
            if job is None or type(outcome) is not Returned or report.fence != fence or report.instance != instance:
                return None
            jobs.append(job)
            results.append(outcome.result)
            text = job_text(job.id, fence, job.started_at)
            if (known := texts.get(job.lane)) is None:
                texts[job.lane] = [text]
            else:
                known.append(text)
        if not self._are_plain(lanes, texts.keys()) or len({job.seq for job in jobs}) < len(jobs):
            return None
        return Successes(instance, fence, jobs, results, _body(lanes, texts))

    def _are_plain(self, lanes: LaneCache, of: Iterable[int]) -> bool:
        if self._refused_until:
            now = self._clock.monotonic()
            self._refused_until = {lane: until for lane, until in self._refused_until.items() if until > now}
            if not self._refused_until.keys().isdisjoint(of):
                return False
        return all(lanes.knows(lane) and lane & LANE_MASK not in lanes.hooked for lane in of)


def strip_key(report: CompletionReport) -> tuple[int | None, int] | None:
    """Return a key that the reports of a strip have in common; None for one that is no plain success."""
    plain = report.job is not None and isinstance(report.outcome, Returned)
    return (report.instance, report.fence) if plain else None


def _body(lanes: LaneCache, texts: dict[int, list[str]]) -> str:
    """Return the events, one strip for each lane."""
    names = {lane: lanes.name(lane) for lane in texts}
    return batch_of(
        [
            (before_jobs(Reason.SUCCEEDED, State.SUCCEEDED, names[lane].queue, names[lane].task, _STATUS), jobs)
            for lane, jobs in texts.items()
        ]
    )
