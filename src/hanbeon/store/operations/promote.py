"""pending → ready, when the time has come; and counting again for jobs that could not count for themselves."""

from __future__ import annotations

from collections import defaultdict

from hanbeon.domain.lifecycle import State
from hanbeon.store.operations.dependencies import fail_dependents, promote_these
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx, to_json


async def promote(tx: Tx, book: LaneCache, limit: int) -> int:
    """Promote the next due jobs, and those that are found to wait for nothing when counted again; how many moved on."""
    counted = await recount(tx, book, limit)
    due = [row["seq"] for row in await tx.fetch("due", limit)]
    return counted + (await promote_these(tx, book, due) if due else 0)


async def recount(tx: Tx, book: LaneCache, limit: int) -> int:
    """Put right what jobs from a caller's transaction wait for, and let them go on or fail; how many.

    Whoever completed a dependency before that transaction committed could not see the job behind it, so it may wait for
    more than there is. It never waits for less, so nothing starts too early meanwhile.
    """
    waiting = [row["seq"] for row in await tx.fetch("to_recount", limit)]
    if not waiting:
        return 0
    waits_for = defaultdict(list)
    for edge in await tx.fetch("edges_to", to_json(waiting)):
        waits_for[edge["dependent"]].append(edge["dependency"])
    # One that others here wait for comes in a later round: two instances that both share it could not both change it.
    waited_for = {dependency for dependencies in waits_for.values() for dependency in dependencies}
    waiting = [seq for seq in waiting if seq not in waited_for]
    # First what is waited for, then who waits, as whoever completes it locks them: in the other order, a deadlock.
    needed = sorted({dependency for seq in waiting for dependency in waits_for[seq]})
    states = {row["seq"]: State(row["state"]) for row in await tx.fetch("share_jobs", to_json(needed))}
    locked = await tx.fetch("lock_jobs", to_json(waiting))
    if State.READY in (*states.values(), *(row["state"] for row in locked)):
        tx.wake("work")  # Whoever wanted to claim it just now has passed it over, because it is locked.
    counted = []
    for row in locked:
        if row["recount"]:  # Otherwise another instance has been here meanwhile.
            unmet = sum(states.get(each) is not State.SUCCEEDED for each in waits_for[row["seq"]])
            counted.append({"seq": row["seq"], "unmet": unmet, "recount": False})
    if not counted:
        return 0
    await tx.fetch("set_unmet", to_json(counted))
    await promote_these(tx, book, [each["seq"] for each in counted if not each["unmet"]])
    hopeless = [seq for seq, state in states.items() if state in (State.FAILED, State.CANCELLED)]
    if hopeless:
        await fail_dependents(tx, book, hopeless)
    return len(counted)


async def next_due_us(tx: Tx) -> int | None:
    """Microseconds until the next pending job is due (negative: it is), None if there is none."""
    wait: int | None = (await tx.fetch("next_due"))[0]["wait_us"]
    return wait
