"""Moves requested by users: cancel, replace, requeue, mark done, reprioritise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.job import check_priority, is_id
from hanbeon.domain.lifecycle import LIFECYCLE, UNFINISHED, Reason, State, sources_of
from hanbeon.domain.reserved_queues import reserved_prefix
from hanbeon.errors import Conflict, JobNotFound, UniqueKeyTaken, WrongState
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.store.operations.dependencies import fail_dependents, meet_dependents, promote_these
from hanbeon.store.operations.dispatches import close_dispatches
from hanbeon.store.operations.end_hooks import end_hook_of, run_end_hooks
from hanbeon.store.operations.events import emit
from hanbeon.store.operations.hand_moves import hand_moves_of, note_hand_moves
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.queues import keep_queues
from hanbeon.store.tx import Tx, to_json

ALL_JOBS = 2**62
_REQUEUED_FROM = LIFECYCLE[Reason.REQUEUED].sources


class CancelFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Selects unfinished jobs to cancel; an omitted field matches all."""

    queue: str | None = None
    task: str | None = None
    role: str | None = None
    work_item: str | None = None
    states: tuple[State, ...] = tuple(sorted(UNFINISHED))
    overdue: bool | None = None
    """For running jobs: only those past their deadline, or only the others."""


async def seq_of(tx: Tx, job_id: str) -> int:
    rows = await tx.fetch("seqs_by_id", to_json([job_id])) if is_id(job_id) else []
    if not rows:
        raise JobNotFound(job_id)
    return int(rows[0]["seq"])


async def lock_one(tx: Tx, job_id: str) -> Any:
    rows = await tx.fetch("lock_jobs", to_json([await seq_of(tx, job_id)]))
    if not rows:
        raise JobNotFound(job_id)
    return rows[0]


async def cancel(tx: Tx, lanes: LaneCache, job_id: str) -> State:
    """Cancel a waiting job, or request a running one to stop; return its state. Raises if it ended otherwise."""
    row = await lock_one(tx, job_id)
    state = State(row["state"])
    if state is State.CANCELLED:
        return state
    if state not in UNFINISHED:
        raise WrongState(job_id, state, "cancelled", sorted(UNFINISHED))
    await _cancel_locked(tx, lanes, [row])
    return State.RUNNING if state is State.RUNNING else State.CANCELLED


class Matching(NamedTuple):
    """Jobs that match, in creation order; `more`: others match that were not asked to stop before."""

    seqs: list[int]
    more: bool


async def matching(tx: Tx, lanes: tuple[int, int], filter: CancelFilter, most: int = ALL_JOBS) -> Matching:
    """Return the newest jobs that match now. One query: one per batch would read the rest every time.

    Jobs that were asked to stop come last, so that a repeated call gets to the others.
    """
    rows = await tx.fetch(
        "unfinished_matching",
        to_json(filter.states),
        *lanes,
        filter.task,
        filter.role,
        filter.work_item,
        filter.overdue,
        most + 1,
    )
    seqs = sorted(row["seq"] for row in rows[:most])
    return Matching(seqs, more=any(not row["asked"] for row in rows[most:]))


async def cancel_these(tx: Tx, lanes: LaneCache, seqs: Sequence[int], states: Sequence[State]) -> list[str]:
    """Cancel those of the given jobs that are still in one of the states; return their ids in creation order."""
    rows = await tx.fetch("lock_jobs", to_json(seqs))
    return await _cancel_locked(tx, lanes, [row for row in rows if State(row["state"]) in states])


async def replace(tx: Tx, lanes: LaneCache, holder_id: str, by: str, *, lasting: bool = False) -> bool:
    """Make room for another job with the same unique key; False if the holder is already running."""
    try:
        row = await lock_one(tx, holder_id)
    except JobNotFound:
        return True  # It has ended and was pruned in the meantime.
    if row["state"] == State.RUNNING:
        return False
    if lasting and (row["unmet"] or await tx.fetch("depended_on", to_json([row["seq"]]))):
        # Its row stays locked until the commit, and completions of its dependencies would wait for that.
        raise Conflict(Rule("unique_key_not_replaced", key=quoted(row["unique_key"]), job=holder_id))
    await _cancel_waiting(tx, lanes, [row], Reason.REPLACED, by)
    if row["dispatched_at"] is not None:
        await close_dispatches(tx, [row["seq"]], stop=True)
    return True


class RetryNote(NamedTuple):
    """The user who retries a job by hand, a comment for its next attempts, and other arguments, if some are given."""

    user: str | None = None
    comment: str | None = None
    args: str | None = None


NO_NOTE = RetryNote()


async def requeue(tx: Tx, lanes: LaneCache, job_id: str, note: RetryNote = NO_NOTE) -> State:
    """Run a failed or cancelled job again, with all its retries; return its state."""
    return await _requeue(tx, lanes, job_id, note)


async def requeue_owned(tx: Tx, lanes: LaneCache, job_id: str) -> State:
    """Like `requeue`, for the owner of the job's end hook, which takes back what it did at its end."""
    return await _requeue(tx, lanes, job_id, None)


async def _requeue(tx: Tx, lanes: LaneCache, job_id: str, note: RetryNote | None) -> State:
    """`note`: None for the owner of the job's end hook."""
    seq = await seq_of(tx, job_id)
    await _refuse_orphaned(tx, lanes, seq, job_id)
    # Its dependencies are locked first, in the same order as completions do; the other order would deadlock.
    waits_for = await tx.fetch("lock_dependencies", seq)
    row = await lock_one(tx, job_id)
    if note is not None:
        await _refuse_hooked(tx, lanes, row)
    if row["state"] in _REQUEUED_FROM:
        await _check_requeue(tx, row, sum(dependency["state"] != State.SUCCEEDED for dependency in waits_for))
        await tx.fetch("keep_attempts", to_json([row["seq"]]))
        await tx.fetch("drop_expiries", to_json([row["seq"]]))
    moved_rows = await tx.fetch("requeue", to_json([row["seq"]]))
    if not moved_rows:
        raise WrongState(job_id, row["state"], "retried", sources_of(Reason.REQUEUED))
    details: dict[str, Any] = {}
    if note is not None:
        changes = None if note.args is None else {"args": True}
        if note.args is not None:
            await tx.fetch("set_args", seq, note.args)
        await note_hand_moves(tx, [seq], Reason.REQUEUED, note.user, note.comment, changes)
        details = {"user": note.user, "comment": note.comment, "changes": changes}
    await emit(tx, lanes, moved_rows, Reason.REQUEUED, State.PENDING, was=_states([row]), **details)
    return State.READY if await promote_these(tx, lanes, [row["seq"]]) else State.PENDING


async def requeue_these(
    tx: Tx, lanes: LaneCache, jobs: Mapping[int, int], user: str | None = None
) -> tuple[list[str], list[str]]:
    """Run failed and cancelled jobs again, given with their fences; return their ids, and those of jobs to do alone.

    Left out are those that `requeue` would refuse, and those that ran since: their fence is another. A job with
    dependencies is locked after these, which for many at once has no order without deadlocks.
    """
    with_dependencies = {row["dependent"] for row in await tx.fetch("edges_to", to_json(list(jobs)))}
    orphaned = await keep_queues(tx, lanes, await _lanes_of(tx, list(jobs)))
    rows = await tx.fetch("lock_jobs", to_json(list(jobs)))
    rows = [row for row in rows if row["fence"] == jobs[row["seq"]] and State(row["state"]) in _REQUEUED_FROM]
    rows = [row for row in rows if row["lane"] not in orphaned]
    await lanes.learn(tx, [row["lane"] for row in rows])
    rows = [row for row in rows if end_hook_of(lanes.name(row["lane"])) is None]
    alone = [str(row["id"]) for row in rows if row["seq"] in with_dependencies]
    rows = [row for row in rows if row["seq"] not in with_dependencies and (not row["unmet"] or row["recount"])]
    rows = await _with_free_keys(tx, rows)
    if not rows:
        return [], alone
    seqs = [row["seq"] for row in rows]
    await tx.fetch("keep_attempts", to_json(seqs))
    await tx.fetch("drop_expiries", to_json(seqs))
    again = await tx.fetch("requeue", to_json(seqs))
    await note_hand_moves(tx, seqs, Reason.REQUEUED, user)
    await emit(tx, lanes, again, Reason.REQUEUED, State.PENDING, was=_states(rows), user=user)
    await promote_these(tx, lanes, seqs)
    return [str(row["id"]) for row in rows], alone


async def mark_done(
    tx: Tx, lanes: LaneCache, job_id: str, comment: str, *, result: str = "null", user: str | None = None
) -> None:
    """Mark a failed or cancelled job as done: its dependents go on as if it had succeeded.

    Said once more of a job that is done by that very move, it does nothing: the first answer may have been lost.
    """
    seq = await seq_of(tx, job_id)
    await _refuse_orphaned(tx, lanes, seq, job_id)
    row = await lock_one(tx, job_id)
    await _refuse_hooked(tx, lanes, row)
    if row["state"] in LIFECYCLE[Reason.MARKED_DONE].sources:
        await tx.fetch("keep_attempts", to_json([seq]))
    marked = await tx.fetch("mark_done", seq, result)
    if not marked:
        if any(each.reason is Reason.MARKED_DONE and each.comment == comment for each in await hand_moves_of(tx, seq)):
            return
        raise WrongState(job_id, row["state"], "marked as done", sources_of(Reason.MARKED_DONE))
    await note_hand_moves(tx, [seq], Reason.MARKED_DONE, user, comment)
    was = _states([row])
    await emit(tx, lanes, marked, Reason.MARKED_DONE, State.SUCCEEDED, was=was, user=user, comment=comment)
    await meet_dependents(tx, lanes, [seq])


async def _with_free_keys(tx: Tx, rows: Sequence[Any]) -> list[Any]:
    """Leave out jobs whose unique key is held by an unfinished job, or taken by an older one of them."""
    keys = [row["unique_key"] for row in rows if row["unique_key"] is not None]
    held = await tx.fetch("conflicting_jobs", "[]", "[]", to_json(keys)) if keys else []
    taken = {row["unique_key"] for row in held}
    free = []
    for row in rows:
        if row["unique_key"] not in taken:
            free.append(row)
            taken |= {row["unique_key"]} - {None}
    return free


async def _lanes_of(tx: Tx, seqs: Sequence[int]) -> set[int]:
    """The lanes of jobs that are not locked; a job never changes its queue."""
    return {row["lane"] for row in await tx.fetch("lanes_of_jobs", to_json(seqs))}


async def _refuse_orphaned(tx: Tx, lanes: LaneCache, seq: int, job_id: str) -> None:
    """Raise for a job whose queue has lost its owner: nobody can look after it, and its queue will be deleted."""
    for lane in await keep_queues(tx, lanes, await _lanes_of(tx, [seq])):
        owner = reserved_prefix(lanes.name(lane).queue)
        assert owner is not None
        raise Conflict(Rule("owner_deleted", job=job_id, owner=owner.owner))


async def _refuse_hooked(tx: Tx, lanes: LaneCache, row: Any) -> None:
    """Raise for a job whose owner has acted on its end, which cannot be taken back."""
    await lanes.learn(tx, [row["lane"]])
    hook = end_hook_of(lanes.name(row["lane"]))
    if hook is not None:
        raise Conflict(Rule("owner_went_on", job=row["id"], owner=hook.owner, remedy=hook.remedy))


async def _check_requeue(tx: Tx, row: Any, unmet: int) -> None:
    """Raise for a job that would wait forever, and for a unique key that another unfinished job holds."""
    if row["unmet"] > unmet and not row["recount"]:
        raise Conflict(Rule("dependencies_pruned", job=row["id"]))
    if row["unique_key"] is not None:
        holders = await tx.fetch("conflicting_jobs", "[]", "[]", to_json([row["unique_key"]]))
        if holders:
            raise UniqueKeyTaken(row["unique_key"], str(holders[0]["id"]), holders[0]["state"])


async def reprioritise(tx: Tx, lanes: LaneCache, job_id: str, priority: int | None, urgent: bool | None) -> None:
    """Change the priority or urgency of an unfinished job."""
    if priority is not None:
        check_priority(priority)
    row = await lock_one(tx, job_id)
    changed = await tx.fetch("reprioritise", row["seq"], priority, urgent)
    if not changed:
        raise WrongState(job_id, row["state"], "reprioritised", sources_of(Reason.REPRIORITISED))
    now = changed[0]
    await emit(
        tx,
        lanes,
        changed,
        Reason.REPRIORITISED,
        State(now["state"]),
        was=_states(changed),
        priority=now["priority"],
        urgent=bool(now["urgent"]),
    )


async def _cancel_locked(tx: Tx, lanes: LaneCache, rows: Sequence[Any]) -> list[str]:
    """Cancel waiting jobs, request running ones to stop. The rows are locked, so their states are current."""
    waiting = [row for row in rows if row["state"] in (State.PENDING, State.READY)]
    running = [row["seq"] for row in rows if row["state"] == State.RUNNING]
    if waiting:
        await _cancel_waiting(tx, lanes, waiting, Reason.CANCELLED)
    sent = [row["seq"] for row in rows if row["dispatched_at"] is not None]
    if sent:
        await close_dispatches(tx, sent, stop=True)
    if running:
        stopping = await tx.fetch("request_stop", to_json(running))
        await emit(tx, lanes, stopping, Reason.STOP_REQUESTED, State.RUNNING)
        if stopping:
            tx.wake("stop")
    return [str(row["id"]) for row in rows if State(row["state"]) in UNFINISHED]


async def _cancel_waiting(
    tx: Tx, lanes: LaneCache, locked: Sequence[Any], reason: Reason, replaced_by: str | None = None
) -> None:
    rows = await tx.fetch("cancel", to_json([row["seq"] for row in locked]), replaced_by)
    await emit(tx, lanes, rows, reason, State.CANCELLED, was=_states(locked), replaced_by=replaced_by)
    await fail_dependents(tx, lanes, [row["seq"] for row in rows])
    await run_end_hooks(tx, lanes, rows)


def _states(rows: Sequence[Any]) -> dict[int, State]:
    return {row["seq"]: State(row["state"]) for row in rows}
