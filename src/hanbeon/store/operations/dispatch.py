"""ready → sent to the stream workers: under the same limits and in the same order as claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import msgspec

from hanbeon.domain.events import event_factory
from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.domain.outcome import Raised, decide
from hanbeon.domain.retry import FailureType
from hanbeon.store.job_columns import claimed
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest, claim
from hanbeon.store.operations.complete import apply_ends, held_of
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.stream_replies import claim_dispatched
from hanbeon.store.records import queue_of
from hanbeon.store.tx import Tx, to_json

_MESSAGE_LIMIT = 4_000


class Sendable(Protocol):
    """Makes the requests of a task."""

    @property
    def name(self) -> str: ...

    def to_wire(self, job: Claimed) -> tuple[str, str]:
        """Return the job's id on the wire, and the fields of its request as JSON."""
        ...


async def dispatch(tx: Tx, lanes: LaneCache, request: ClaimRequest, calls: Mapping[str, Sendable]) -> ClaimAnswer:
    """Give ready jobs of these tasks a fence and write their requests to the outbox, in one transaction."""
    return await claim(tx, lanes, request, partial(_send, calls))


async def _send(
    calls: Mapping[str, Sendable], tx: Tx, lanes: LaneCache, seqs: list[int], request: ClaimRequest
) -> list[Claimed]:
    found = {row["seq"]: row for row in await tx.fetch("dispatch", to_json(seqs))}
    rows = [found[seq] for seq in seqs if seq in found]
    if not rows:
        return []
    await lanes.learn(tx, [row["lane"] for row in rows])
    await tx.fetch("mark_streamed", to_json(sorted({queue_of(row["lane"]) for row in rows})))
    build = event_factory(Reason.DISPATCHED, State.READY, was=State.READY, instance=request.instance)
    jobs, requests, broken = [], [], []
    for row in rows:
        job = claimed(tuple(row.values()), lanes.name(row["lane"]), request.instance)
        job = msgspec.structs.replace(job, started_at=row["now"])
        tx.emit(build(row["now"], job.queue, job.id, job.task, job.fence))
        try:
            wire_id, body = calls[job.task].to_wire(job)
        except Exception as error:
            # One job that cannot be described must not hold up the others.
            broken.append((row, f"{type(error).__name__}: {error}"[:_MESSAGE_LIMIT]))
            continue
        stream = calls[job.task].name
        requests.append({"job": job.seq, "fence": job.fence, "stream": stream, "wire_id": wire_id, "body": body})
        jobs.append(job)
    if requests:
        await tx.fetch("add_dispatches", to_json(requests))
    if broken:
        await _fail(tx, lanes, broken, request)
    return jobs


async def _fail(tx: Tx, lanes: LaneCache, broken: Sequence[tuple[Any, str]], request: ClaimRequest) -> None:
    rows = [{**dict(row), "stop_requested_at": None, "failure_type": None} for row, _ in broken]
    await claim_dispatched(
        tx, lanes, rows, dict.fromkeys((row["seq"] for row in rows), request.lease_us), request.instance
    )
    endings = {
        row["seq"]: decide(held_of(row), Raised(message, FailureType.INVALID, permanent=True))
        for row, (_, message) in zip(rows, broken, strict=True)
    }
    await apply_ends(tx, lanes, rows, endings, seen=True)
