"""Effects of a job's end on its dependents; costs the out-edges of the job, never a scan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from hanbeon.domain.events import event_factory
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.domain.retry import FailureType
from hanbeon.store.operations.end_hooks import run_end_hooks
from hanbeon.store.operations.events import emit
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import UNANNOUNCED_JOBS, Tx, ready_hint, to_json

_ANY_NUMBER = 2**62
_NONE = "[]"
_MESSAGE = "A job it depends on failed or was cancelled"


class UnmetCount(msgspec.Struct, frozen=True):
    """How many dependencies of a job have not succeeded, and whether they must be counted again."""

    job: int
    dependencies: int
    recount: bool = False


class _Freed(NamedTuple):
    """A dependent that waits for nothing any more, with the state that it has now."""

    seq: int
    id: str
    lane: int
    state: State


_freed = msgspec.json.Decoder(list[_Freed])


async def meet_dependents(tx: Tx, lanes: LaneCache, succeeded: Sequence[int]) -> None:
    """Decrement the unmet counts of the dependents and promote those that now wait for nothing."""
    seqs = to_json(succeeded)
    now, freed = await (_meet_at_once(tx, seqs) if tx.has_round_trips else _meet_in_steps(tx, seqs))
    ready = [each for each in freed if each.state == State.READY]
    if ready:
        await lanes.learn(tx, {each.lane for each in ready})
        build = event_factory(Reason.PROMOTED, State.READY)
        for each in sorted(ready):
            name = lanes.name(each.lane)
            tx.emit(build(now, name.queue, each.id, name.task))
        tx.wake(ready_hint(lanes.name(each.lane).task for each in ready))
    if any(each.state == State.PENDING for each in freed):
        tx.wake("later")  # They have a time to wait for, which no promoter knew until now.


async def _meet_at_once(tx: Tx, seqs: str) -> tuple[int, list[_Freed]]:
    (row,) = await tx.fetch("meet_dependents", seqs, UNANNOUNCED_JOBS)
    if row["dependents"] > UNANNOUNCED_JOBS:
        tx.expect(row["dependents"])
        (row,) = await tx.fetch("meet_dependents", seqs, _ANY_NUMBER)
    return row["now"], [] if row["freed"] is None else _freed.decode(row["freed"])


async def _meet_in_steps(tx: Tx, seqs: str) -> tuple[int, list[_Freed]]:
    (row,) = await tx.fetch("dependents_met", seqs)
    now, dependents = row["now"], row["dependents"]
    if not dependents:
        return now, []
    tx.expect(dependents)
    await tx.fetch("decrement_unmet", seqs)
    freed = row["freed"]
    if freed == _NONE:
        return now, []
    await tx.fetch("free_dependents", freed, now)
    return now, _freed.decode((await tx.fetch("freed_dependents", freed))[0]["freed"])


async def write_unmet(tx: Tx, counts: Sequence[UnmetCount]) -> None:
    """Replace the unmet counts of jobs whose rows are locked, or new."""
    await tx.fetch("set_blocked", to_json(counts))
    await tx.fetch("drop_unmet", to_json([each.job for each in counts]))
    await tx.fetch("insert_unmet", to_json(counts))


async def promote_these(tx: Tx, lanes: LaneCache, seqs: Sequence[int]) -> int:
    """pending → ready for those that are due and have no unmet dependencies; return how many."""
    rows = await tx.fetch("promote_these", to_json(seqs))
    await emit(tx, lanes, rows, Reason.PROMOTED, State.READY)
    if rows:
        tx.wake(ready_hint(lanes.name(row["lane"]).task for row in rows))
    return len(rows)


async def fail_dependents(tx: Tx, lanes: LaneCache, ended: Sequence[int]) -> list[str]:
    """Fail the dependents whose policy is to fail with the given jobs, transitively; return their ids."""
    locked = [row["seq"] for row in await tx.fetch("failing_dependents", to_json(ended))]
    if not locked:
        return []
    tx.expect(len(locked))
    rows = await tx.fetch("fail_dependents", to_json(locked), _MESSAGE)
    failure_type = FailureType.DEPENDENCY_FAILED.value
    await emit(tx, lanes, rows, Reason.DEPENDENCY_FAILED, State.FAILED, failure_type=failure_type, message=_MESSAGE)
    await run_end_hooks(tx, lanes, rows)
    return [str(row["id"]) for row in rows]
