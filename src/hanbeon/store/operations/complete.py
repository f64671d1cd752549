"""running → anything else: results of live leases, and recovery of expired ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from hanbeon.domain.events import EventFactory, event_factory
from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import TERMINAL, Reason, State
from hanbeon.domain.outcome import (
    NOT_BEGUN_MESSAGE,
    AttemptEnd,
    HandedBack,
    Held,
    Losses,
    Lost,
    Outcome,
    TimedOut,
    decide,
)
from hanbeon.domain.retry import NOT_THE_WORK
from hanbeon.domain.totals import RECOVERED
from hanbeon.store.operations.dependencies import fail_dependents, meet_dependents, promote_these
from hanbeon.store.operations.dispatches import close_dispatches
from hanbeon.store.operations.end_hooks import run_end_hooks, run_loss_hooks
from hanbeon.store.operations.expire import expired_among
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.lease import Lease
from hanbeon.store.operations.totals import add_totals
from hanbeon.store.records import LANE_MASK, policy_of, queue_of
from hanbeon.store.tx import Tx, slot_hint, to_json

NO_LOSSES: Mapping[int, Losses] = MappingProxyType({})


class CompletionReport(msgspec.Struct, frozen=True, gc=False):
    """The end of an attempt, as reported by its instance."""

    seq: int
    fence: int
    outcome: Outcome
    random_share: float = 0.0
    instance: int | None = None
    """The reporting instance, which must hold the lease; None compares the fence alone.

    A plain success of a known instance takes one statement.
    """


class Completed(msgspec.Struct, frozen=True, gc=False):
    """The result of a report."""

    seq: int
    fence: int
    state: State
    reason: Reason
    at: int = 0
    retry_count: int | None = None
    """None: as at the claim."""
    delay_us: int | None = None
    """The wait before the attempt that follows."""
    message: str | None = None
    """The error of an attempt that failed."""


class Recovered(Completed, frozen=True, gc=False):
    """The result of recovering an attempt whose instance is gone, with what that instance knew of it."""

    id: str = ""
    task: str = ""
    started_at: int = 0
    idempotency_key: str | None = None


async def complete(tx: Tx, lanes: LaneCache, reports: Sequence[CompletionReport]) -> list[Completed]:
    """Apply the reports whose leases are still held. Those with a stale fence or an expired lease are left out."""
    # By lease, not by job: the late report of a lost attempt may arrive with that of the attempt that followed it.
    pending: dict[tuple[int, int], CompletionReport] = {}
    for report in reports:
        pending.setdefault((report.seq, report.fence), report)
    completed = [] if tx.fast is None else await tx.fast.succeed_within(tx, lanes, pending)
    for item in completed:
        del pending[item.seq, item.fence]
    return completed + (await _complete(tx, lanes, pending) if pending else [])


async def _complete(tx: Tx, lanes: LaneCache, reports: Mapping[tuple[int, int], CompletionReport]) -> list[Completed]:
    held = await tx.fetch("lock_running", to_json(sorted({seq for seq, _ in reports})))
    rows = [row for row in held if _is_held(row, reports.get((row["seq"], row["fence"])))]
    losses = await _losses(tx, [row["seq"] for row in rows if row["failure_type"] in NOT_THE_WORK])
    expired = await expired_among(tx, rows)
    endings = {}
    for row in rows:
        report = reports[row["seq"], row["fence"]]
        endings[row["seq"]] = decide(held_of(row, losses, expired), report.outcome, report.random_share)
    return await apply_ends(tx, lanes, rows, endings, seen=True)


def _is_held(row: Any, report: CompletionReport | None) -> bool:
    return report is not None and report.instance in (None, row["instance"])


async def recover(tx: Tx, lanes: LaneCache, limit: int, random_share: float = 0.0) -> list[Recovered]:
    """End the attempts whose lease expired, and retry or fail their jobs like any other."""
    rows = await tx.fetch("expired", limit)
    await lanes.learn(tx, [row["lane"] for row in rows])
    losses = await _losses(tx, [row["seq"] for row in rows if row["fence"] > 1])
    expired = await expired_among(tx, rows)
    endings = {row["seq"]: decide(held_of(row, losses, expired), _vanished(row, lanes), random_share) for row in rows}
    await add_totals(tx, Counter(RECOVERED.of(ending.state) for ending in endings.values()))
    completed = await apply_ends(tx, lanes, rows, endings, seen=False)
    sent = [row["seq"] for row in rows if row["dispatched_at"] is not None]
    if sent:
        await close_dispatches(tx, sent, stop=True)
    return [_recovered(lanes, row, each) for row, each in zip(rows, completed, strict=True)]


async def hand_back(
    tx: Tx, lanes: LaneCache, instance: int, tasks: Collection[str], begun: Collection[Lease]
) -> tuple[set[Lease], list[Recovered]]:
    """Release the jobs of these tasks that the instance is said to run and never began: it got no answer to its claim.

    Nothing of them has run, so it is right even after their leases have expired. Also return what the instance is said
    to run. No claim of the instance for these tasks may be under way.
    """
    rows = await tx.fetch("held_by", instance)
    await lanes.learn(tx, [row["lane"] for row in rows])
    said = {Lease(row["seq"], row["fence"], instance): lanes.name(row["lane"]).task for row in rows}
    strange = {lease: None for lease, task in said.items() if task in tasks and lease not in begun}
    if not strange:
        return set(said), []
    locked = await tx.fetch("lock_held_by", to_json([lease.seq for lease in strange]), instance)
    rows = [row for row in locked if Lease(row["seq"], row["fence"], instance) in strange]
    expired = await expired_among(tx, rows)
    endings = {row["seq"]: decide(held_of(row, expired=expired), HandedBack()) for row in rows}
    completed = await apply_ends(tx, lanes, rows, endings, seen=False)
    return set(said), [_recovered(lanes, row, each) for row, each in zip(rows, completed, strict=True)]


def _recovered(lanes: LaneCache, row: Any, completed: Completed) -> Recovered:
    return Recovered(
        **msgspec.structs.asdict(completed),
        id=str(row["id"]),
        task=lanes.name(row["lane"]).task,
        started_at=row["started_at"],
        idempotency_key=row["idempotency_key"],
    )


async def _losses(tx: Tx, seqs: Sequence[int]) -> dict[int, Losses]:
    """Return the losses in a row that each of these jobs had before the attempt that ends; most had none."""
    if not seqs:
        return {}
    found = await tx.fetch("losses_in_a_row", to_json(seqs), NOT_BEGUN_MESSAGE)
    return {row["job"]: Losses(row["losses"], row["unbegun"]) for row in found}


def held_of(row: Any, losses: Mapping[int, Losses] = NO_LOSSES, expired: Collection[int] = ()) -> Held:
    # The row keeps the failure of the attempt before until this one ends or a user retries the job.
    stop_requested = row["stop_requested_at"] is not None
    before = losses.get(row["seq"], Losses())
    policy, is_expired = policy_of(row["policy"]), row["seq"] in expired
    return Held(row["retry_count"], policy, stop_requested, row["failure_type"], before, is_expired)


def _vanished(row: Any, lanes: LaneCache) -> Outcome:
    if row["unbegun_fence"] == row["fence"]:
        return Lost(begun=False)
    hook = lanes.hooked.get(row["lane"] & LANE_MASK)
    overdue = row["deadline_at"] is not None and row["deadline_at"] <= row["now"]
    return TimedOut(unseen=True) if overdue and (hook is None or hook.unseen_timeouts) else Lost()


async def apply_ends(
    tx: Tx, lanes: LaneCache, rows: Sequence[Any], endings: Mapping[int, AttemptEnd], *, seen: bool
) -> list[Completed]:
    """Write the ends of attempts. `seen`: the end of the work was observed just now, so its duration is known."""
    if not rows:
        return []
    await lanes.learn(tx, [row["lane"] for row in rows])
    await tx.fetch("complete", to_json([_job_row(row, endings[row["seq"]]) for row in rows]))
    # Where the job ends with the attempt, its row is the record of both.
    past = [row for row in rows if endings[row["seq"]].state not in TERMINAL]
    if past:
        await tx.fetch("insert_attempts", to_json([_attempt_row(row, endings[row["seq"]]) for row in past]))
    raised = [row for row in rows if endings[row["seq"]].exception is not None]
    if raised:
        await tx.fetch("insert_exceptions", to_json([_exception_row(row, endings[row["seq"]]) for row in raised]))
    for row in rows:
        emit_end(tx, lanes, row, event_factory_of(endings[row["seq"]], row["now"]), seen=seen)
    await _follow_up(tx, lanes, endings)
    await run_end_hooks(tx, lanes, [row for row in rows if endings[row["seq"]].state in TERMINAL])
    if any(ending.losses for ending in endings.values()):
        await run_loss_hooks(tx, lanes, rows, {seq: ending.losses for seq, ending in endings.items()})
    if any(ending.state is not State.SUCCEEDED for ending in endings.values()):
        tx.wake("work", "later")  # A promoter must learn the time of a delayed retry, a worker of a released job.
    wake_for_slots(tx, lanes, rows)
    return [
        Completed(
            row["seq"],
            row["fence"],
            ending.state,
            ending.reason,
            row["now"],
            ending.retry_count,
            ending.delay_us,
            ending.message,
        )
        for row in rows
        for ending in (endings[row["seq"]],)
    ]


async def _follow_up(tx: Tx, lanes: LaneCache, endings: Mapping[int, AttemptEnd]) -> None:
    """Apply the consequences: for dependents, and for retries without a delay."""
    succeeded = [seq for seq, ending in endings.items() if ending.state is State.SUCCEEDED]
    if succeeded:
        await meet_dependents(tx, lanes, succeeded)
    hopeless = [seq for seq, ending in endings.items() if ending.state in (State.FAILED, State.CANCELLED)]
    if hopeless:
        await fail_dependents(tx, lanes, hopeless)
    undelayed = [seq for seq, ending in endings.items() if ending.delay_us is not None and ending.delay_us <= 0]
    if undelayed:
        await promote_these(tx, lanes, undelayed)


def wake_for_slots(tx: Tx, lanes: LaneCache, rows: Sequence[Any]) -> None:
    tx.wake(*sorted(_slot_hints(lanes, {row["lane"] for row in rows})))


def _slot_hints(lanes: LaneCache, of: Collection[int]) -> set[str]:
    """Return the hints that the ends of attempts in these lanes have freed slots of limited queues."""
    return {slot_hint(lanes.name(lane).queue) for lane in of if queue_of(lane) in lanes.limited}


def hints_of(lanes: LaneCache, jobs: Sequence[Claimed]) -> set[str]:
    """Return the hints that follow the plain success of these jobs."""
    return {"event"} | _slot_hints(lanes, {job.lane for job in jobs})


def _job_row(row: Any, ending: AttemptEnd) -> dict[str, Any]:
    return {
        "seq": row["seq"],
        "fence": row["fence"],
        "state": ending.state,
        "run_at": None if ending.delay_us is None else row["now"] + ending.delay_us,
        "retry_count": ending.retry_count,
        "result": ending.result,
        "failure_type": row["failure_type"] if ending.keeps_failure else ending.failure_type,
        "message": ending.message,
        "finished_at": row["now"] if ending.state in TERMINAL else None,
        "status": ending.attempt if ending.state in TERMINAL else None,
        "free_at": row["now"] if ending.state is State.READY else None,
    }


def _attempt_row(row: Any, ending: AttemptEnd) -> dict[str, Any]:
    return {
        "job": row["seq"],
        "attempt": row["fence"],
        "status": ending.attempt,
        "instance": row["instance"],
        "started_at": row["started_at"],
        "deadline_at": row["deadline_at"],
        "ended_at": row["now"],
        "failure_type": ending.failure_type,
        "message": ending.message,
    }


def _exception_row(row: Any, ending: AttemptEnd) -> dict[str, Any]:
    assert ending.exception is not None
    return {
        "job": row["seq"],
        "attempt": row["fence"],
        "exception": ending.exception.name,
        "traceback": ending.exception.traceback,
    }


def emit_end(tx: Tx, lanes: LaneCache, row: Any, build: EventFactory, *, seen: bool) -> None:
    name, now = lanes.name(row["lane"]), row["now"]
    took = now - row["started_at"] if seen else None
    tx.emit(build(now, name.queue, str(row["id"]), name.task, row["fence"], took))


def event_factory_of(ending: AttemptEnd, now: int) -> EventFactory:
    return event_factory(
        ending.reason,
        ending.state,
        status=ending.attempt.value,
        failure_type=ending.failure_type,
        message=ending.message,
        retry_at=None if ending.delay_us is None else now + ending.delay_us,
    )
