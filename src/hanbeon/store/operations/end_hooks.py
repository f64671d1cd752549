"""End hooks: writes that the owner of a task adds to the transaction in which a job of that task ends.

Every end of the job calls it: completion, failure, timeout, recovery by another instance, cancel, dependency.
A surface declares the hook of its tasks, and `surfaces/store_parts.py` registers it before a store is used. Without its
hook a job would end and its owner would never learn of it, so the end of a built-in job without one is refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from hanbeon.domain.job import RESERVED, LaneName
from hanbeon.domain.lifecycle import State
from hanbeon.store.records import LANE_MASK
from hanbeon.store.tx import Tx, to_json

if TYPE_CHECKING:
    from hanbeon.store.operations.lanes import LaneCache

_SEPARATOR = ":"


class EndedJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job that has just ended, as its row is written."""

    seq: int
    id: str
    task: str
    state: State
    fence: int
    started_at: int | None
    finished_at: int
    progress: str | None
    result: str | None
    failure_type: str | None
    error_message: str | None


OnEnd = Callable[[Tx, "LaneCache", Sequence[EndedJob]], Awaitable[None]]
"""Awaits its transaction only, and must not raise: the ends of other jobs are in the same transaction."""


OnProgress = Callable[[Tx, str, str], Awaitable[None]]
"""`(tx, job_id, progress)`: writes that go with the progress of a job, which is JSON text."""


class LostAttempt(NamedTuple):
    """An attempt that ended by a loss, of a job that is tried again: how many there have been in a row, and when."""

    id: str
    losses: int
    at: int


OnLoss = Callable[[Tx, Sequence[LostAttempt]], Awaitable[None]]
"""Writes that go with losses."""


class EndHook(NamedTuple):
    """The owner of the tasks named `<prefix>:…`, or of the queue `prefix` (`by_queue`).

    Their jobs are never retried by hand: `remedy` says what to do.
    """

    prefix: str
    call: OnEnd
    owner: str
    remedy: str
    unseen_timeouts: bool = True
    """False: an attempt whose deadline passed after its instance was gone is lost, and did not time out."""
    on_progress: OnProgress | None = None
    on_loss: OnLoss | None = None
    """For jobs that outlive losses."""
    by_queue: bool = False
    """The hook is that of a queue, whatever tasks its jobs have."""


_hooks: dict[str, EndHook] = {}


def register_end_hook(hook: EndHook) -> EndHook:
    """Register the owner of a prefix; each has one."""
    if _hooks.setdefault(hook.prefix, hook) != hook:
        raise ValueError(f"the task prefix {hook.prefix!r} already has an end hook; choose another")
    return hook


def end_hook_of(lane: LaneName) -> EndHook | None:
    """Return the hook of a lane, by its queue or by its task; None for almost all."""
    found = _hooks.get(lane.queue)
    if found is not None and found.by_queue:
        return found
    if _SEPARATOR not in lane.task:
        return None
    prefix = lane.task.partition(_SEPARATOR)[0]
    found = _hooks.get(prefix)
    if found is None and prefix.startswith(RESERVED):
        return EndHook(prefix, _refuse, "a surface that this process lacks", "use a process that has it")
    return found


async def _refuse(tx: Tx, lanes: LaneCache, ended: Sequence[EndedJob]) -> None:
    """Roll the ends back: a process that knows the owner, perhaps of a newer release, brings them about."""
    raise RuntimeError(f"no end hook is registered for {ended[0].task!r}; see `surfaces/store_parts.py`")


async def run_end_hooks(tx: Tx, lanes: LaneCache, rows: Iterable[Any]) -> None:
    """Run the hooks of the jobs of these rows, which have ended in this transaction.

    Each row has `seq` and `lane`, and `lanes` knows that lane. Jobs without a hook cost a look at a flag.
    """
    if not lanes.hooked:
        return
    ended: dict[EndHook, list[int]] = {}
    for row in rows:
        hook = lanes.hooked.get(row["lane"] & LANE_MASK)
        if hook is not None:
            ended.setdefault(hook, []).append(row["seq"])
    for hook, seqs in ended.items():
        found = await tx.fetch("ended_jobs", to_json(sorted(seqs)))
        await hook.call(tx, lanes, [_ended_job(row, lanes) for row in found])


async def run_loss_hooks(tx: Tx, lanes: LaneCache, rows: Iterable[Any], losses: Mapping[int, int]) -> None:
    """Run the hooks of the jobs of these rows that outlive losses; `losses` has the number in a row of each."""
    lost: dict[OnLoss, list[LostAttempt]] = {}
    for row in rows:
        hook = lanes.hooked.get(row["lane"] & LANE_MASK)
        if hook is not None and hook.on_loss is not None and losses[row["seq"]]:
            lost.setdefault(hook.on_loss, []).append(LostAttempt(str(row["id"]), losses[row["seq"]], row["now"]))
    for call, attempts in lost.items():
        await call(tx, attempts)


async def run_progress_hooks(tx: Tx, lanes: LaneCache, rows: Iterable[Any], progress: str) -> None:
    """Run the hook of the job of this row, if any, whose progress was written in this transaction."""
    for row in rows:
        await lanes.learn(tx, [row["lane"]])
        hook = lanes.hooked.get(row["lane"] & LANE_MASK)
        if hook is not None and hook.on_progress is not None:
            await hook.on_progress(tx, str(row["id"]), progress)


def _ended_job(row: Any, lanes: LaneCache) -> EndedJob:
    values = {name: row[name] for name in EndedJob.__struct_fields__ if name not in ("id", "task", "state")}
    return EndedJob(id=str(row["id"]), task=lanes.name(row["lane"]).task, state=State(row["state"]), **values)
