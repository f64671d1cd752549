"""pending → ready, when a job is due; and the recount of unmet dependencies of jobs from callers' transactions."""

from __future__ import annotations

from collections import defaultdict

from hanbeon.domain.lifecycle import State
from hanbeon.store.operations.dependencies import UnmetCount, fail_dependents, promote_these, write_unmet
from hanbeon.store.operations.expire import expire
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx, to_json


async def run_due(tx: Tx, lanes: LaneCache, limit: int) -> tuple[int, int]:
    """End what has expired and promote what is due; return how many jobs of each."""
    expired = await expire(tx, lanes, limit)
    return expired, await promote(tx, lanes, limit)


async def promote(tx: Tx, lanes: LaneCache, limit: int) -> int:
    """Promote the next due jobs, and those that a recount finds to wait for nothing; return how many."""
    counted = await recount(tx, lanes, limit)
    due = [row["seq"] for row in await tx.fetch("due", limit)]
    return counted + (await promote_these(tx, lanes, due) if due else 0)


async def recount(tx: Tx, lanes: LaneCache, limit: int) -> int:
    """Correct the unmet counts of jobs from callers' transactions, and promote or fail them; return how many.

    A completion before that transaction's commit could not see the dependent, so its count may be too high. It is never
    too low, so nothing starts too early in the meantime.
    """
    waiting = [row["seq"] for row in await tx.fetch("to_recount", limit)]
    if not waiting:
        return 0
    waits_for = defaultdict(list)
    for edge in await tx.fetch("edges_to", to_json(waiting)):
        waits_for[edge["dependent"]].append(edge["dependency"])
    # A job that others here wait for is left for a later round: two instances that share its lock could not change it.
    waited_for = {dependency for dependencies in waits_for.values() for dependency in dependencies}
    waiting = [seq for seq in waiting if seq not in waited_for]
    # Dependencies before dependents, in the same order as completions lock them; the other order would deadlock.
    needed = sorted({dependency for seq in waiting for dependency in waits_for[seq]})
    states = {row["seq"]: State(row["state"]) for row in await tx.fetch("share_jobs", to_json(needed))}
    locked = await tx.fetch("lock_jobs", to_json(waiting))
    if State.READY in (*states.values(), *(row["state"] for row in locked)):
        tx.wake("work")  # A concurrent claim has skipped it, because it is locked.
    counted = []
    for row in locked:
        if row["recount"]:  # Otherwise another instance has recounted it in the meantime.
            unmet = sum(states.get(each) is not State.SUCCEEDED for each in waits_for[row["seq"]])
            counted.append(UnmetCount(row["seq"], unmet))
    if not counted:
        return 0
    await write_unmet(tx, counted)
    await promote_these(tx, lanes, [each.job for each in counted if not each.dependencies])
    hopeless = [seq for seq, state in states.items() if state in (State.FAILED, State.CANCELLED)]
    if hopeless:
        await fail_dependents(tx, lanes, hopeless)
    return len(counted)


async def next_due_us(tx: Tx) -> int | None:
    """Return microseconds until the next pending job is due (negative: overdue), None if there is none."""
    wait: int | None = (await tx.fetch("next_due"))[0]["wait_us"]
    return wait


async def next_moment_us(tx: Tx) -> int | None:
    """Return microseconds until the next pending job is due or one expires (negative: overdue), None if none does."""
    (row,) = await tx.fetch("next_due")
    return min((wait for wait in (row["wait_us"], row["expires_us"]) if wait is not None), default=None)
