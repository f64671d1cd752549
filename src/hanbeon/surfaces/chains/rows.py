"""Chains as rows: create, extend, read and delete. Their walks are in `chain_walk`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.store.operations.pages import Slice, fit_page, keyed
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.chains.errors import ChainNotFound, ChainRunNotFound, ChainWrongState
from hanbeon.surfaces.chains.vocabulary import ChainState, Direction, OnBackwardFailure, OnUnknown
from hanbeon.surfaces.chains.walk import JobShape, initial_state

R = TypeVar("R", bound=msgspec.Struct)
JOBS_MOST = 1_000
"""Jobs of one chain: its page shows all of them."""
_JOBS_A_PAGE = 5_000
_RUNS_A_PAGE = 100
_LAST = 2**63 - 1


class NewChain(msgspec.Struct, frozen=True, kw_only=True):
    """A chain to create."""

    uid: str
    queue_library: str
    retries: int
    on_unknown: OnUnknown
    on_backward_failure: OnBackwardFailure
    created_by: str


class NewChainJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job to enqueue into a chain; `arguments` is JSON text."""

    uid: str
    forward_operation: str
    backward_operation: str
    arguments: str
    operation_library: str
    expired_us: int


class ChainRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A stored chain. Instants are microseconds since 1970 UTC."""

    id: int
    uid: str
    queue_library: str
    state: ChainState
    operation_direction: Direction
    retries: int
    on_unknown: OnUnknown
    on_backward_failure: OnBackwardFailure
    job_number: int
    context: str
    run: int
    steps: int
    enqueued: int
    place: int | None
    step_job: str | None
    created_by: str
    created_at: int
    changed_at: int


class ChainJobRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A stored job of a chain; `job_return` is JSON text."""

    id: int
    uid: str
    chain_id: int
    place: int
    forward_operation: str
    backward_operation: str
    arguments: str
    operation_library: str
    expired_us: int
    state: str
    job_return: str | None

    @property
    def shape(self) -> JobShape:
        return JobShape(self.operation_library, self.forward_operation, self.backward_operation)


class StepRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An operation that has ended; `returned` is JSON text."""

    chain_id: int
    run: int
    n: int
    job_id: int
    direction: Direction
    state: str
    returned: str
    step_job: str | None
    started_at: int | None
    ended_at: int


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a chain, which may be under way."""

    chain_id: int
    n: int
    started_by: str
    started_at: int
    ended_at: int | None
    job_number: int
    operation_direction: Direction | None


class WholeChain(msgspec.Struct, frozen=True):
    """A chain with its jobs in order, and the steps of its last run."""

    chain: ChainRecord
    jobs: list[ChainJobRecord]
    steps: list[StepRecord]


class WholeRun(msgspec.Struct, frozen=True):
    """A run with its steps in the order of running."""

    run: RunRecord
    steps: list[StepRecord]


async def add_chain(tx: Tx, new: NewChain, jobs: Sequence[NewChainJob]) -> WholeChain:
    """Create a chain with its first jobs. A repeated request, which has the same `uid`, returns the existing one."""
    values = (new.uid, new.queue_library, new.retries, new.on_unknown, new.on_backward_failure, new.created_by)
    made = await tx.fetch("add_chain", *values)
    if not made:
        return await whole(tx, chain_record((await tx.fetch("chain_by_uid", new.uid))[0]))
    chain = await lock_chain(tx, made[0]["id"])
    await _add_jobs(tx, chain, jobs)
    return await whole_chain(tx, chain.id)


async def add_jobs(tx: Tx, chain_id: int, jobs: Sequence[NewChainJob]) -> list[ChainJobRecord]:
    """Append jobs to a chain that is not running; return all its jobs, the new ones last.

    Of a repeated request, which has the same `uid`s, the existing jobs stay as they are.
    """
    chain = await lock_chain(tx, chain_id)
    if not await tx.fetch("chain_job_by_uid", jobs[0].uid):
        if chain.state not in (ChainState.EMPTY, ChainState.READY):
            raise ChainWrongState(chain_id, chain.state, "extended", (ChainState.EMPTY, ChainState.READY))
        await _add_jobs(tx, chain, jobs)
    return await jobs_of(tx, chain_id)


async def _add_jobs(tx: Tx, chain: ChainRecord, jobs: Sequence[NewChainJob]) -> None:
    if not jobs:
        return
    if chain.job_number + len(jobs) > JOBS_MOST:
        raise InvalidInput(
            Rule("chain_too_long", most=JOBS_MOST, got=chain.job_number + len(jobs)),
            field="jobs",
        )
    rows = [
        {
            **msgspec.structs.asdict(job),
            "chain_id": chain.id,
            "place": place,
            "state": initial_state(job.operation_library),
        }
        for place, job in enumerate(jobs, start=chain.job_number)
    ]
    await tx.fetch("add_chain_jobs", to_json(rows))
    changed = msgspec.structs.replace(chain, state=ChainState.READY, job_number=chain.job_number + len(jobs))
    await change_chains(tx, [changed])


async def change_chains(tx: Tx, chains: Sequence[ChainRecord]) -> None:
    """Write the changed fields of locked chains."""
    await tx.fetch("change_chains", to_json(chains))


async def whole_chain(tx: Tx, chain_id: int) -> WholeChain:
    return await whole(tx, await chain_by_id(tx, chain_id))


async def whole(tx: Tx, chain: ChainRecord) -> WholeChain:
    return (await _whole(tx, [chain]))[0]


async def _whole(tx: Tx, found: Sequence[ChainRecord]) -> list[WholeChain]:
    wholes = {chain.id: WholeChain(chain, [], []) for chain in found}
    ids = to_json(list(wholes))
    for row in await tx.fetch("jobs_of_chains", ids):
        wholes[row["chain_id"]].jobs.append(chain_job_record(row))
    for row in await tx.fetch("last_steps_of_chains", ids):
        wholes[row["chain_id"]].steps.append(step_record(row))
    return list(wholes.values())


async def chain_by_id(tx: Tx, chain_id: int) -> ChainRecord:
    return _one(await tx.fetch("chain_by_id", chain_id), chain_id)


async def lock_chain(tx: Tx, chain_id: int) -> ChainRecord:
    return _one(await tx.fetch("lock_chain", chain_id), chain_id)


def _one(rows: Sequence[Any], chain_id: int) -> ChainRecord:
    if not rows:
        raise ChainNotFound(chain_id)
    return chain_record(rows[0])


async def chains(tx: Tx, after: int, limit: int, state: ChainState | None = None) -> Slice[WholeChain]:
    """Return chains in the order of their ids. A page ends early if these have many jobs, or large texts."""
    if state is None:
        rows = await tx.fetch("chain_page", after, limit + 1)
    else:
        rows = await tx.fetch("chain_page_in_state", after, limit + 1, state)
    # First by the number of jobs, which is at hand: their sizes are summed up for those alone.
    page: Slice[int] = fit_page(keyed(rows, "id", "job_number"), limit, _JOBS_A_PAGE)
    if page.items:
        page = page.of(fit_page(keyed(await tx.fetch("chain_sizes", to_json(page.items)), "id"), limit).items)
    found = await tx.fetch("chains_by_id", to_json(page.items)) if page.items else []
    return page.of(await _whole(tx, [chain_record(row) for row in found]))


async def jobs_of(tx: Tx, chain_id: int) -> list[ChainJobRecord]:
    return [chain_job_record(row) for row in await tx.fetch("jobs_of_chains", to_json([chain_id]))]


async def steps_of(tx: Tx, chain_id: int, first_run: int, last_run: int) -> list[StepRecord]:
    """Return the steps of some runs, in the order of running."""
    if not last_run:
        return []
    rows = await tx.fetch("steps_of_run", chain_id, first_run, last_run)
    return [step_record(row) for row in rows]


async def runs(tx: Tx, chain_id: int, before: int | None, limit: int) -> Slice[WholeRun]:
    """Return runs, newest first, with their steps. Steps are many: a page is short."""
    await chain_by_id(tx, chain_id)
    limit = min(limit, _RUNS_A_PAGE)
    rows = await tx.fetch("chain_runs", chain_id, _LAST if before is None else before, limit + 1)
    page = fit_page([(WholeRun(run_record(row), []), row["bytes"]) for row in rows], limit)
    steps = {found.run.n: found.steps for found in page.items}
    if steps:
        for step in await steps_of(tx, chain_id, min(steps), max(steps)):
            steps[step.run].append(step)
    return page


async def run_of(tx: Tx, chain_id: int, n: int) -> WholeRun:
    found = (await runs(tx, chain_id, min(n + 1, _LAST), 1)).items
    if not found or found[0].run.n != n:
        raise ChainRunNotFound(chain_id, n)
    return found[0]


async def delete_chain(tx: Tx, chain_id: int) -> None:
    """Delete a chain that is not running, with its history. The engine's jobs stay until they are pruned."""
    chain = await lock_chain(tx, chain_id)
    if chain.state in (ChainState.RUNNING, ChainState.BLOCKED):
        raise ChainWrongState(chain_id, chain.state, "deleted", (ChainState.EMPTY, ChainState.READY))
    for name in ("delete_chain_steps", "delete_chain_runs", "delete_chain_jobs", "delete_chain"):
        await tx.fetch(name, chain_id)


async def prune_runs(tx: Tx, older_than_us: int, limit: int) -> int:
    """Delete old runs with their steps, except the last of each chain; return how many runs."""
    found = [
        {"chain_id": row["chain_id"], "n": row["n"]} for row in await tx.fetch("prunable_runs", older_than_us, limit)
    ]
    if found:
        body = to_json(found)
        await tx.fetch("prune_chain_steps", body)
        await tx.fetch("prune_chain_runs", body)
    return len(found)


async def unfinished_counts(tx: Tx) -> dict[ChainState, int]:
    """Count the chains that run, and those that wait for a person. The others cost nothing."""
    states = (ChainState.RUNNING, ChainState.BLOCKED)
    counted = {ChainState(row["state"]): row["chains"] for row in await tx.fetch("chain_counts", to_json(states))}
    return {state: counted.get(state, 0) for state in states}


def chain_record(row: Any) -> ChainRecord:
    return _record(ChainRecord, row, "uid", "step_job")


def chain_job_record(row: Any) -> ChainJobRecord:
    return _record(ChainJobRecord, row, "uid")


def run_record(row: Any) -> RunRecord:
    return _record(RunRecord, row)


def step_record(row: Any) -> StepRecord:
    return _record(StepRecord, row, "step_job")


def _record(kind: type[R], row: Any, *ids: str) -> R:
    values: dict[str, Any] = {name: row[name] for name in kind.__struct_fields__}
    for name in ids:
        values[name] = None if values[name] is None else str(values[name])
    return msgspec.convert(values, kind, strict=False)
