"""The fast path of claims and successes on PostgreSQL: one statement each, a transaction by itself, with its event.

A strip is a batch of jobs of one lane, or of attempts that succeeded plainly. Whatever is not as common as that is not
found by these statements, and takes the general path. Not behind a pooler, where a statement with parameters needs a
transaction around it anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hanbeon.clock import Clock, SystemClock
from hanbeon.domain.event_strips import batch_of, before_jobs, job_text
from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import AttemptStatus, Reason, State
from hanbeon.domain.outcome import Returned
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest, LanePosition
from hanbeon.store.operations.complete import Completed, CompletionReport
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.postgres import PostgresDatabase
from hanbeon.store.records import LANE_MASK, claimed
from hanbeon.store.tx import to_json

# A lane whose strip was refused is one of a graph, most likely: every try would be in vain, and cost a round trip.
_REFUSED_SECONDS = 1.0
_STATUS = ("status", AttemptStatus.COMPLETED.value)


class _Strip(NamedTuple):
    """Plain successes of one instance with the same fence."""

    instance: int
    fence: int
    jobs: list[Claimed]
    results: list[str | None]


class Strips:
    """Claims and ends strips. Answers None if the general path must be taken."""

    def __init__(self, database: PostgresDatabase, clock: Clock | None) -> None:
        self._database = database
        self._clock = clock or SystemClock()
        self._refused_until: dict[int, float] = {}

    async def claim(self, lanes: LaneCache, request: ClaimRequest) -> ClaimAnswer | None:
        """Claim the jobs of a lane after the request's position."""
        behind = request.behind
        if self._database.pooled or behind is None or not lanes.knows(behind.lane):
            return None
        name = lanes.name(behind.lane)
        before = before_jobs(Reason.CLAIMED, State.RUNNING, name.queue, name.task, ("instance", request.instance))
        rows = await self._database.fetch(
            "claim_strip",
            *(behind.lane, request.instance, request.lease_us, request.want, behind.rank, behind.seq),
            '{"strips":[' + before,
            self._database.incarnation,
        )
        if not rows:
            return None
        place = LanePosition(behind.lane, rows[-1]["rank"], rows[-1]["seq"])
        jobs = [claimed(row, name, request.instance) for row in rows]
        return ClaimAnswer(jobs, request.cursor, place, more=len(rows) == request.want)

    async def succeed(self, lanes: LaneCache, reports: Sequence[CompletionReport]) -> list[Completed] | None:
        """End the attempts of all these reports, if all of them succeeded and nothing is to be done besides."""
        strip = None if self._database.pooled else self._strip(lanes, reports)
        if strip is None:
            return None
        alike = len(set(strip.results)) == 1
        rows = await self._database.fetch(
            "succeed_strip",
            [job.seq for job in strip.jobs],
            *(strip.fence, strip.instance, strip.results[0] if alike else None),
            None
            if alike
            else to_json({job.seq: result for job, result in zip(strip.jobs, strip.results, strict=True)}),
            _body(strip),
            self._database.incarnation,
        )
        if not rows:
            until = self._clock.monotonic() + _REFUSED_SECONDS
            self._refused_until.update({job.lane: until for job in strip.jobs})
            return None
        now: int = rows[0]["now"]
        return [Completed(job.seq, job.fence, State.SUCCEEDED, Reason.SUCCEEDED, now) for job in strip.jobs]

    def _strip(self, lanes: LaneCache, reports: Sequence[CompletionReport]) -> _Strip | None:
        instance, fence = reports[0].instance, reports[0].fence
        jobs: list[Claimed] = []
        results: list[str | None] = []
        for report in reports:
            if report.job is None or not isinstance(report.outcome, Returned):
                return None
            if report.instance != instance or report.fence != fence:
                return None
            jobs.append(report.job)
            results.append(report.outcome.result)
        of = {job.lane for job in jobs}
        if instance is None or len({job.seq for job in jobs}) < len(jobs) or not self._are_plain(lanes, of):
            return None
        return _Strip(instance, fence, jobs, results)

    def _are_plain(self, lanes: LaneCache, of: set[int]) -> bool:
        now = self._clock.monotonic()
        if self._refused_until and any(self._refused_until.get(lane, 0.0) > now for lane in of):
            return False
        self._refused_until.clear()
        return not any(not lanes.knows(lane) or lane & LANE_MASK in lanes.hooked for lane in of)


def strip_key(report: CompletionReport) -> tuple[int | None, int] | None:
    """Return a key that the reports of a strip have in common; None for one that is no plain success."""
    plain = report.job is not None and isinstance(report.outcome, Returned)
    return (report.instance, report.fence) if plain else None


def _body(strip: _Strip) -> str:
    """Return the events, one strip for each lane."""
    texts: dict[tuple[str, str], list[str]] = {}
    for job in strip.jobs:
        texts.setdefault((job.queue, job.task), []).append(job_text(job.id, job.fence, job.started_at))
    return batch_of(
        [
            (before_jobs(Reason.SUCCEEDED, State.SUCCEEDED, queue, task, _STATUS), jobs)
            for (queue, task), jobs in texts.items()
        ]
    )
