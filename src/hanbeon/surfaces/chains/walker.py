"""Walks of chains: a run, and what follows the end of each step, in the transaction in which the step's job ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import msgspec

from hanbeon.clock import MICROS
from hanbeon.domain.derived_ids import derived_id
from hanbeon.domain.events import Event
from hanbeon.domain.job import JobRecord, NewJob
from hanbeon.domain.lifecycle import UNFINISHED, State
from hanbeon.domain.outcome import NOT_BEGUN_MESSAGE
from hanbeon.domain.retry import NOT_THE_WORK, FailureType, OnLost, RetryPolicy
from hanbeon.errors import Conflict
from hanbeon.rule import Rule
from hanbeon.store.operations import enqueue as enqueues
from hanbeon.store.operations.cancel import cancel_these, lock_one
from hanbeon.store.operations.end_hooks import EndedJob, EndHook, LostAttempt
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.queries import jobs_by_id, now_us
from hanbeon.store.operations.totals import add_totals
from hanbeon.store.operations.traces import inherit_traces
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.chains.errors import ChainWrongState
from hanbeon.surfaces.chains.rows import (
    ChainJobRecord,
    ChainRecord,
    StepRecord,
    WholeChain,
    chain_by_id,
    chain_job_record,
    chain_record,
    change_chains,
    jobs_of,
    lock_chain,
    whole_chain,
)
from hanbeon.surfaces.chains.steps import PREFIX, QUEUE, StepArgs, StepEnd, step_end, task_of
from hanbeon.surfaces.chains.vocabulary import (
    LOSSES,
    ChainEventType,
    ChainState,
    Direction,
    OnBackwardFailure,
    OnUnknown,
    StepOutcome,
)
from hanbeon.surfaces.chains.walk import (
    START,
    Cursor,
    initial_state,
    onward,
    operation_of,
    state_after,
    to_next_operation,
)

_RETRY_BASE_US = 1 * MICROS
_ABORT_ROUNDS = 10
_NULL = "null"
_WAITING = (State.PENDING, State.READY)
_REPORTED_LOSSES = 3
_AFTER_A_LOSS = "waiting to try a lost backward operation again"
_json = msgspec.json.encode


async def begin_run(tx: Tx, lanes: LaneCache, chain_id: int, uid: str, by: str, context: str = "{}") -> WholeChain:
    """Start a run of a READY chain. A repeated request, which has the same `uid`, changes nothing."""
    chain = await lock_chain(tx, chain_id)
    if not await tx.fetch("chain_run_by_uid", uid):
        if chain.state is not ChainState.READY:
            raise ChainWrongState(chain_id, chain.state, "run", (ChainState.READY,))
        number = chain.run + 1
        now: int = (await tx.fetch("add_chain_run", chain_id, number, uid, by, chain.job_number))[0]["started_at"]
        fresh = msgspec.structs.replace(chain, run=number, steps=0, enqueued=0, context=context)
        walk = _Walk(fresh, await jobs_of(tx, chain_id), now)
        walk.start()
        await _write(tx, lanes, [walk])
    return await whole_chain(tx, chain_id)


async def resume(tx: Tx, lanes: LaneCache, chain_id: int) -> WholeChain:
    """Run the backward operation again whose failure blocked the chain."""
    walk = await _blocked(tx, chain_id, "resumed")
    walk.resume()
    await _write(tx, lanes, [walk])
    return await whole_chain(tx, chain_id)


async def skip(tx: Tx, lanes: LaneCache, chain_id: int) -> WholeChain:
    """Leave the job as failed that blocks the chain, or that is lost again and again; undo those before it."""
    chain = await chain_by_id(tx, chain_id)
    if chain.state is ChainState.RUNNING and chain.operation_direction is Direction.BACKWARD:
        return await _skip_lost(tx, lanes, chain)
    walk = await _blocked(tx, chain_id, "skipped")
    walk.skip()
    await _write(tx, lanes, [walk])
    return await whole_chain(tx, chain_id)


async def _skip_lost(tx: Tx, lanes: LaneCache, chain: ChainRecord) -> WholeChain:
    """Go on without a backward operation that waits after a loss. Its job is locked before the chain."""
    assert chain.step_job is not None
    await lock_one(tx, chain.step_job)
    (job,) = await jobs_by_id(tx, [chain.step_job])
    now = await lock_chain(tx, chain.id)
    lost = job.failure_type in NOT_THE_WORK or job.error_message == NOT_BEGUN_MESSAGE
    if not lost or job.state not in _WAITING or now.step_job != chain.step_job:
        raise ChainWrongState(chain.id, "RUNNING BACKWARD", "skipped", (ChainState.BLOCKED, _AFTER_A_LOSS))
    walk = _Walk(now, await jobs_of(tx, chain.id), await now_us(tx))
    walk.skip_lost(job)
    await _write(tx, lanes, [walk])
    # Only now: the end of a job that is no chain's present step changes nothing.
    await cancel_these(tx, lanes, [job.seq], _WAITING)
    return await whole_chain(tx, chain.id)


async def _blocked(tx: Tx, chain_id: int, verb: str) -> _Walk:
    chain = await lock_chain(tx, chain_id)
    if chain.state is not ChainState.BLOCKED:
        raise ChainWrongState(chain_id, chain.state, verb, (ChainState.BLOCKED,))
    return _Walk(chain, await jobs_of(tx, chain_id), await now_us(tx))


async def abort(tx: Tx, lanes: LaneCache, chain_id: int) -> WholeChain:
    """Stop the forward operation under way; its end turns the walk. The job of the step is locked before the chain."""
    for _ in range(_ABORT_ROUNDS):
        chain = await chain_by_id(tx, chain_id)
        if chain.state is not ChainState.RUNNING:
            raise ChainWrongState(chain_id, chain.state, "aborted", (ChainState.RUNNING,))
        if chain.operation_direction is Direction.BACKWARD:
            raise ChainWrongState(chain_id, "RUNNING BACKWARD", "aborted", ("RUNNING FORWARD",))
        assert chain.step_job is not None
        job = await lock_one(tx, chain.step_job)
        if State(job["state"]) not in UNFINISHED:
            continue  # It ended in the meantime, and the walk has gone on.
        tx.emit(_event(ChainEventType.ABORTED, chain, await now_us(tx)))
        await cancel_these(tx, lanes, [job["seq"]], tuple(UNFINISHED))
        return await whole_chain(tx, chain_id)
    raise Conflict(Rule("chain_outruns_stop", chain=chain_id))


async def steps_ended(tx: Tx, lanes: LaneCache, ended: Sequence[EndedJob]) -> None:
    """Go on with the chains whose steps these jobs are. A job that is no chain's present step changes nothing."""
    by_id = {job.id: job for job in ended}
    chains = [chain_record(row) for row in await tx.fetch("lock_chains_of_steps", to_json(sorted(by_id)))]
    if not chains:
        return
    found = await tx.fetch("jobs_of_chains", to_json([chain.id for chain in chains]))
    jobs = {
        chain_id: [chain_job_record(row) for row in rows]
        for chain_id, rows in groupby(found, key=lambda row: row["chain_id"])
    }
    walks = []
    for chain in chains:
        assert chain.step_job is not None
        job = by_id[chain.step_job]
        walk = _Walk(chain, jobs[chain.id], job.finished_at)
        walk.step_ended(job)
        walks.append(walk)
    await _write(tx, lanes, walks)


async def steps_lost(tx: Tx, lost: Sequence[LostAttempt]) -> None:
    """Report backward operations that were lost too often in a row: they are tried again until a person skips them."""
    often = {attempt.id: attempt for attempt in lost if attempt.losses >= _REPORTED_LOSSES}
    if not often:
        return
    for row in await tx.fetch("chains_of_steps", to_json(sorted(often))):
        chain = chain_record(row)
        assert chain.step_job is not None
        attempt = often[chain.step_job]
        place = next(job for job in await jobs_of(tx, chain.id) if job.place == chain.place)
        tx.emit(_event(ChainEventType.STEP_LOST, chain, attempt.at, job_id=place.id, losses=attempt.losses))
    await add_totals(tx, {LOSSES.of(): len(often)})


HOOK = EndHook(
    PREFIX,
    steps_ended,
    "a chain",
    "run the chain again, or resume it if it is BLOCKED",
    # The death of a worker is no reason to turn back: an operation that nobody saw end is an unknown outcome.
    unseen_timeouts=False,
    on_loss=steps_lost,
)


class _Walk:
    """One chain in the hands of a transaction: the pure walk applied to its rows, until they are written."""

    def __init__(self, chain: ChainRecord, jobs: list[ChainJobRecord], now: int) -> None:
        self.chain, self.jobs, self.now = chain, jobs, now
        self.changed_jobs: dict[int, ChainJobRecord] = {}
        self.steps: list[StepRecord] = []
        self.events: list[Event] = []
        self.new_job: NewJob | None = None
        self.is_over = False

    def start(self) -> None:
        """Begin at the first job, with every job as it was before it ever ran."""
        self._change(operation_direction=Direction.FORWARD)
        for job in self.jobs:
            self._change_job(job, state=initial_state(job.operation_library), job_return=None)
        self._emit(ChainEventType.STARTED)
        self._go(START)

    def step_ended(self, job: EndedJob) -> None:
        at = self._cursor
        end = _read_end(job)
        if end.context is not None:
            self._change(context=end.context)
        failed = end.outcome is not StepOutcome.SUCCESS
        if failed and at.direction is Direction.BACKWARD and self._stops:
            self._set_return(at, end.returned)
            self._change(state=ChainState.BLOCKED, step_job=None)
            self._emit(ChainEventType.BLOCKED, job_id=self.jobs[at.place].id)
            return
        self._record(at, end, job)
        self._go(onward(at, end.outcome, len(self.jobs)))

    def resume(self) -> None:
        self._emit(ChainEventType.RESUMED, job_id=self.jobs[self._cursor.place].id)
        self._enqueue(self._cursor)

    def skip(self) -> None:
        """Record the failure that blocked the chain, and go on."""
        at = self._cursor
        returned = _returns(self.jobs[at.place])["backward"]
        self._record(at, StepEnd(StepOutcome.FAILED, bytes(returned).decode()))
        self._go(onward(at, StepOutcome.FAILED, len(self.jobs)))

    def skip_lost(self, job: JobRecord) -> None:
        """Record the loss of the operation as its failure, and go on."""
        at = self._cursor
        values = {
            name: getattr(job, name) for name in EndedJob.__struct_fields__ if name not in ("state", "finished_at")
        }
        # One whose body never began has no failure of its own.
        values["failure_type"] = values["failure_type"] or FailureType.LOST
        lost = EndedJob(state=State.FAILED, finished_at=self.now, **values)
        end = _read_end(lost)
        if end.context is not None:
            self._change(context=end.context)
        self._record(at, end, lost)
        self._go(onward(at, end.outcome, len(self.jobs)))

    @property
    def _stops(self) -> bool:
        return self.chain.on_backward_failure is OnBackwardFailure.STOP

    @property
    def _cursor(self) -> Cursor:
        assert self.chain.place is not None
        return Cursor(self.chain.place, self.chain.operation_direction)

    def _go(self, at: Cursor | None) -> None:
        """Walk on to the next operation and enqueue it, or end the run."""
        passed = to_next_operation([job.shape for job in self.jobs], at, self.chain.operation_direction)
        for each in passed.jobs:
            self._turn_to(each.direction)
            self._record(each, StepEnd(StepOutcome.SUCCESS, _NULL))
        self._turn_to(passed.direction)
        if passed.next is not None:
            self._enqueue(passed.next)
            return
        self.is_over = True
        self._change(state=ChainState.READY, place=None, step_job=None)
        self._emit(ChainEventType.ENDED)

    def _turn_to(self, direction: Direction) -> None:
        if direction is not self.chain.operation_direction:
            self._change(operation_direction=direction)
            self._emit(ChainEventType.TURNED)

    def _record(self, at: Cursor, end: StepEnd, job: EndedJob | None = None) -> None:
        """Write down an operation that has ended, in its job and in the run."""
        chain_job = self.jobs[at.place]
        state = state_after(chain_job.state, at.direction, end.outcome)
        self._change_job(chain_job, state=state)
        self._set_return(at, end.returned)
        self._change(steps=self.chain.steps + 1)
        step = StepRecord(
            chain_id=self.chain.id,
            run=self.chain.run,
            n=self.chain.steps,
            job_id=chain_job.id,
            direction=at.direction,
            state=state,
            returned=end.returned,
            step_job=None if job is None else job.id,
            started_at=None if job is None else job.started_at,
            ended_at=self.now,
        )
        self.steps.append(step)
        self._emit(ChainEventType.STEP_ENDED, job_id=chain_job.id, direction=at.direction, state=state)

    def _enqueue(self, at: Cursor) -> None:
        chain, job = self.chain, self.jobs[at.place]
        args = StepArgs(
            queue_id=chain.id,
            job_id=job.id,
            run=chain.run,
            direction=at.direction,
            operation=operation_of(job.shape, at.direction),
            arguments=msgspec.Raw(job.arguments.encode()),
            context=msgspec.Raw(chain.context.encode()),
        )
        compensates = at.direction is Direction.FORWARD and chain.on_unknown is OnUnknown.COMPENSATE
        self.new_job = NewJob(
            id=derived_id(self.now, chain.uid, chain.run, chain.enqueued),
            task=task_of(job.operation_library),
            args=_json(args).decode(),
            queue=QUEUE,
            timeout_us=job.expired_us,
            policy=RetryPolicy(
                max_retries=chain.retries,
                base_us=_RETRY_BASE_US,
                on_lost=OnLost.FAIL if compensates else OnLost.RETRY,
                outlives_losses=at.direction is Direction.BACKWARD,
            ),
        )
        self._change(state=ChainState.RUNNING, place=at.place, step_job=self.new_job.id, enqueued=chain.enqueued + 1)

    def _set_return(self, at: Cursor, returned: str) -> None:
        job = self.jobs[at.place]
        returns = _returns(job) | {at.direction.lower(): msgspec.Raw(returned.encode())}
        self._change_job(job, job_return=_json(returns).decode())

    def _change(self, **fields: Any) -> None:
        self.chain = msgspec.structs.replace(self.chain, **fields)

    def _change_job(self, job: ChainJobRecord, **fields: Any) -> None:
        changed = msgspec.structs.replace(job, **fields)
        self.jobs[job.place] = self.changed_jobs[job.id] = changed

    def _emit(self, kind: ChainEventType, **details: Any) -> None:
        self.events.append(_event(kind, self.chain, self.now, **details))


def _read_end(job: EndedJob) -> StepEnd:
    return step_end(
        job.state,
        result=job.result,
        progress=job.progress,
        failure_type=job.failure_type,
        message=job.error_message,
        fence=job.fence,
    )


def _returns(job: ChainJobRecord) -> dict[str, msgspec.Raw]:
    if job.job_return is None:
        return {}
    return msgspec.json.decode(job.job_return, type=dict[str, msgspec.Raw])


def _event(kind: ChainEventType, chain: ChainRecord, at: int, **details: Any) -> Event:
    known = {"queue_id": chain.id, "run": chain.run, "operation_direction": chain.operation_direction.value}
    return Event(type=kind.value, at=at, queue=QUEUE, details={**known, **details})


async def _write(tx: Tx, lanes: LaneCache, walks: Iterable[_Walk]) -> None:
    """Write the walks, all tables in the same order, and enqueue their next operations."""
    walks = list(walks)
    await change_chains(tx, [walk.chain for walk in walks])
    if jobs := [job for walk in walks for job in walk.changed_jobs.values()]:
        await tx.fetch("change_chain_jobs", to_json(jobs))
    if steps := [step for walk in walks for step in walk.steps]:
        await tx.fetch("add_chain_steps", to_json(steps))
    if over := [walk for walk in walks if walk.is_over]:
        await tx.fetch("end_chain_runs", to_json([_run_row(walk) for walk in over]))
    if new := [walk.new_job for walk in walks if walk.new_job is not None]:
        lanes = await lanes.ensure(tx, [job.lane for job in new])
        await enqueues.enqueue(tx, lanes, new)
        if tx.tracing is not None:
            ended = [(walk.steps[-1].step_job, walk.new_job) for walk in walks if walk.steps]
            await inherit_traces(
                tx, {job.id: before for before, job in ended if before is not None and job is not None}
            )
    tx.emit(*(event for walk in walks for event in walk.events))


def _run_row(walk: _Walk) -> dict[str, Any]:
    chain = walk.chain
    return {
        "chain_id": chain.id,
        "n": chain.run,
        "ended_at": walk.now,
        "operation_direction": chain.operation_direction,
    }
