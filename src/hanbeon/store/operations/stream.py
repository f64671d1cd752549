"""Jobs of stream workers: they are sent under the limits of claims, and fence and state decide which replies count."""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import msgspec

from hanbeon.domain.events import event_factory
from hanbeon.domain.job import Claimed, is_id
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.domain.outcome import HandedBack, Outcome, Raised, Returned, decide
from hanbeon.domain.retry import FailureType
from hanbeon.store.job_columns import claimed
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest, claim
from hanbeon.store.operations.complete import Completed, apply_ends, held_of
from hanbeon.store.operations.dispatches import close_dispatches
from hanbeon.store.operations.end_hooks import run_progress_hooks
from hanbeon.store.operations.expire import expired_among
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.records import free_since, queue_of
from hanbeon.store.tx import Tx, to_json


class Verdict(enum.Enum):
    """The effect of a reply."""

    APPLIED = "applied"
    IGNORED = "ignored"
    """Stale, after the end, or behind what was reported before."""
    REPEATED = "repeated"
    """It says the same as the reply that has failed the job, and may be that one, read again."""
    UNKNOWN = "unknown"
    """There is no such job."""


class StreamProgress(msgspec.Struct, frozen=True, gc=False):
    """The progress of an attempt, from 0 to 100."""

    progress: int
    phase: str = ""
    message: str = ""


class Reply(NamedTuple):
    """A report of a worker about a job: progress, or the outcome. Without a fence it may be any attempt's."""

    job_id: str
    fence: int | None
    progress: StreamProgress | None = None
    outcome: Outcome | None = None


LEASE_US = 600_000_000
"""How long a worker may stay silent if neither its task nor its job says."""
ONLY_FENCE = 1
"""The attempt of replies that do not say theirs: while there has been but one, they can be of no other."""
_DIGITS = 19
_progress = msgspec.json.Decoder(StreamProgress)


async def resolve(tx: Tx, statement: str | None, wire_ids: Collection[str]) -> dict[str, Mapping[str, Any]]:
    """Return rows with the `id` of a job by its id on the wire; those that are none are left out.

    `statement` translates numbers, as JSON; None: an id on the wire is the job's.
    """
    if statement is None:
        return {wire_id: {"id": wire_id} for wire_id in wire_ids if is_id(wire_id)}
    numbers = sorted(int(each) for each in wire_ids if each.isascii() and each.isdigit() and len(each) < _DIGITS)
    return {str(row["wire_id"]): {**row, "id": str(row["id"])} for row in await tx.fetch(statement, to_json(numbers))}


async def apply_replies(
    tx: Tx,
    lanes: LaneCache,
    replies: Sequence[Reply],
    leases: Mapping[str, int | None],
    instance: int,
    random_share: float = 0.0,
) -> tuple[list[Verdict], list[Completed]]:
    """Apply replies in this order; also return the attempts that have ended.

    `leases` has the tasks that they may be about, with their leases; None: a job's lease is its timeout.
    """
    rows = {row["id"]: row for row in await tx.fetch("lock_streamed", to_json(sorted({r.job_id for r in replies})))}
    await lanes.learn(tx, [row["lane"] for row in rows.values()])
    verdicts, outcomes = [], {}
    reported: dict[str, Any] = {}
    progress: dict[str, StreamProgress] = {}
    for reply in replies:
        row = rows.get(reply.job_id)
        verdict = _judge(row, reply, lanes, leases, ended=reply.job_id in outcomes)
        if verdict is Verdict.APPLIED and reply.progress is not None:
            before = progress.get(reply.job_id) or _last_progress(row)
            if before is not None and reply.progress.progress < before.progress:
                verdict = Verdict.IGNORED
            else:
                progress[reply.job_id] = reply.progress
        if verdict is Verdict.APPLIED:
            reported[reply.job_id] = dict(rows[reply.job_id])
            if reply.outcome is not None:
                outcomes[reply.job_id] = reply.outcome
        verdicts.append(verdict)
    lease_us = {row["seq"]: _lease_us(row, leases[lanes.name(row["lane"]).task]) for row in reported.values()}
    new = [row for row in reported.values() if row["state"] == State.READY]
    if new:
        await claim_dispatched(tx, lanes, new, lease_us, instance)
    for job_id, outcome in outcomes.items():
        if isinstance(outcome, Returned):
            last = progress.get(job_id) or _last_progress(rows[job_id]) or StreamProgress(0)
            progress[job_id] = StreamProgress(100, last.phase, last.message)
    await _write_progress(tx, lanes, reported, lease_us, progress)
    ended = await _end(tx, lanes, {job_id: reported[job_id] for job_id in outcomes}, outcomes, random_share)
    return verdicts, ended


def _judge(row: Any, reply: Reply, lanes: LaneCache, tasks: Collection[str], *, ended: bool) -> Verdict:
    if row is None or lanes.name(row["lane"]).task not in tasks:
        return Verdict.UNKNOWN
    sent = row["dispatched_at"] is not None and row["state"] in (State.READY, State.RUNNING)
    meant = row["fence"] == (ONLY_FENCE if reply.fence is None else reply.fence)
    overdue = row["state"] == State.RUNNING and row["deadline_at"] is not None and row["deadline_at"] <= row["now"]
    if meant and isinstance(reply.outcome, Raised) and row["state"] == State.FAILED:
        return Verdict.REPEATED if row["failure_type"] == reply.outcome.failure_type else Verdict.IGNORED
    return Verdict.APPLIED if sent and meant and not ended and not overdue else Verdict.IGNORED


def _last_progress(row: Any) -> StreamProgress | None:
    """The progress of this attempt so far; that of an earlier one does not count."""
    if row["state"] != State.RUNNING or row["progress"] is None:
        return None
    try:
        return _progress.decode(row["progress"])
    except msgspec.DecodeError:
        return None


def _lease_us(row: Any, lease_us: int | None) -> int:
    return int(lease_us or row["timeout_us"] or LEASE_US)


async def claim_dispatched(
    tx: Tx, lanes: LaneCache, rows: Sequence[dict[str, Any]], leases: Mapping[int, int], instance: int
) -> None:
    """Claim dispatched jobs, whose rows are locked, and bring their rows up to date."""
    body = [{"seq": row["seq"], "fence": row["fence"], "lease_us": leases[row["seq"]]} for row in rows]
    claimed = {row["seq"]: row for row in await tx.fetch("claim_dispatched", to_json(body), instance)}
    build = event_factory(Reason.CLAIMED, State.RUNNING, instance=instance)
    for row in rows:
        now = claimed[row["seq"]]["started_at"]
        deadline = claimed[row["seq"]]["deadline_at"]
        row |= {"state": State.RUNNING, "instance": instance, "started_at": now, "deadline_at": deadline}
        # One transaction may claim and complete: an end before the start would be taken for an error.
        row["now"] = max(row["now"], now)
        name = lanes.name(row["lane"])
        tx.emit(build(now, name.queue, row["id"], name.task, row["fence"], now - free_since(row)))


async def _write_progress(
    tx: Tx,
    lanes: LaneCache,
    rows: Mapping[str, Any],
    lease_us: Mapping[int, int],
    progress: Mapping[str, StreamProgress],
) -> None:
    body = [
        {
            "seq": rows[job_id]["seq"],
            "fence": rows[job_id]["fence"],
            "progress": msgspec.json.encode(each).decode(),
            "lease_us": lease_us[rows[job_id]["seq"]],
        }
        for job_id, each in progress.items()
    ]
    texts = {each["seq"]: each["progress"] for each in body}
    for row in await tx.fetch("stream_progress", to_json(body)) if body else ():
        await run_progress_hooks(tx, lanes, [row], texts[row["seq"]])


async def _end(
    tx: Tx, lanes: LaneCache, rows: Mapping[str, Any], outcomes: Mapping[str, Outcome], random_share: float
) -> list[Completed]:
    if not rows:
        return []
    expired = await expired_among(tx, list(rows.values()))
    endings = {
        row["seq"]: decide(held_of(row, expired=expired), outcomes[job_id], random_share)
        for job_id, row in rows.items()
    }
    ordered = sorted(rows.values(), key=lambda row: row["seq"])
    await close_dispatches(tx, [row["seq"] for row in ordered], stop=False)
    return await apply_ends(tx, lanes, ordered, endings, seen=True)


async def end_silent(tx: Tx, lanes: LaneCache, seqs: Sequence[int]) -> list[Completed]:
    """End attempts whose workers were asked to stop and have not answered within the grace time."""
    rows = await tx.fetch("stopping_streamed", to_json(sorted(seqs)))
    expired = await expired_among(tx, rows)
    endings = {row["seq"]: decide(held_of(row, expired=expired), HandedBack()) for row in rows}
    return await apply_ends(tx, lanes, rows, endings, seen=True)


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
