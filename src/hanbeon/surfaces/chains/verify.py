"""Audit of chains: a step under way for each that runs, walks, and the states shown; a part of `hanbeon verify`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import msgspec

from hanbeon.domain.audit.findings import Finding, FindingCode, Invariant
from hanbeon.domain.lifecycle import State
from hanbeon.service.verify import Audited, SurfaceAudit
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.chains.rows import (
    ChainJobRecord,
    ChainRecord,
    RunRecord,
    StepRecord,
    chain_job_record,
    chain_record,
    run_record,
    step_record,
)
from hanbeon.surfaces.chains.state_audit import EndedStep, EngineEnd, ShownJob, shared_jobs, wrong_states, wrong_steps
from hanbeon.surfaces.chains.steps import QUEUE
from hanbeon.surfaces.chains.vocabulary import ChainState, Direction
from hanbeon.surfaces.chains.walk_audit import Place, RanStep, Shape, audit_run

_CHAINS_AT_ONCE = 50


class ChainCase(msgspec.Struct, frozen=True):
    """A chain, its jobs in order, its runs, the steps of each run, and the ends of the engine's jobs that ran them."""

    chain: ChainRecord
    jobs: list[ChainJobRecord]
    runs: list[RunRecord]
    steps: dict[int, list[StepRecord]]
    engine: dict[str, EngineEnd]


async def chain_cases(tx: Tx, after: int) -> list[ChainCase]:
    """Return the next chains after this one; none at the end."""
    found = [chain_record(row) for row in await tx.fetch("chains", after, _CHAINS_AT_ONCE)]
    cases = {chain.id: ChainCase(chain, [], [], defaultdict(list), {}) for chain in found}
    if not cases:
        return []
    ids = to_json(list(cases))
    for row in await tx.fetch("jobs_of_chains", ids):
        cases[row["chain_id"]].jobs.append(chain_job_record(row))
    for row in await tx.fetch("audit_chain_runs", ids):
        cases[row["chain_id"]].runs.append(run_record(row))
    for row in await tx.fetch("audit_chain_steps", ids):
        cases[row["chain_id"]].steps[row["run"]].append(step_record(row))
    for case in cases.values():
        ran = [step.step_job for steps in case.steps.values() for step in steps if step.step_job is not None]
        for row in await tx.fetch("audit_chain_step_jobs", to_json(ran)) if ran else ():
            case.engine[str(row["id"])] = EngineEnd(State(row["state"]), row["failure_type"])
    return list(cases.values())


async def stranded_chains(tx: Tx) -> list[dict[str, Any]]:
    """Return the running chains whose step has no unfinished job."""
    rows = await tx.fetch("audit_stranded_chains")
    return [
        {"queue_id": row["id"], "run": row["run"], "step_job": str(row["step_job"]), "state": row["state"]}
        for row in rows
    ]


class ChainCode(FindingCode):
    """The kinds of inconsistency of chains, in the order in which they are reported."""

    STRANDED_CHAIN = "stranded_chain", "a chain is running, but no unfinished job of the engine runs its step"
    BROKEN_WALK = "broken_walk", "a run of a chain did other operations than its walk, or in another order"
    BROKEN_CHAIN = (
        "broken_chain",
        "a chain or a job of it shows a state that its steps did not leave, or a step ended unlike its job",
    )


class ChainInvariant(Invariant):
    """The invariants of chains, in the order of their codes."""

    STEP_UNDER_WAY = "step_under_way", ChainCode.STRANDED_CHAIN, "a running chain has an unfinished job for its step"
    WALK = "walk", ChainCode.BROKEN_WALK, "each step of a run follows from the outcomes of those before it"
    WALK_ENDED = "walk_ended", ChainCode.BROKEN_WALK, "a run ends with its walk"
    WALK_PLACE = "walk_place", ChainCode.BROKEN_WALK, "a chain stands where the steps of its run have led"
    JOB_STATE = "job_state", ChainCode.BROKEN_CHAIN, "a job of a chain shows the state that its last step left"
    STEP_END = "step_end", ChainCode.BROKEN_CHAIN, "a step ended as the engine's job that ran it"
    CHAIN_STATE = (
        "chain_state",
        ChainCode.BROKEN_CHAIN,
        "a chain is running or blocked exactly while its last run has not ended",
    )
    STEPS_COUNTED = "steps_counted", ChainCode.BROKEN_CHAIN, "a chain counts the steps of its last run"
    STEP_JOB = "step_job", ChainCode.BROKEN_CHAIN, "each step was run by an engine's job of its own"


async def verify_chains(tx: Tx, now: int) -> Audited:
    """Check every chain with the runs that are kept."""
    chains, findings, after = 0, list[Finding](), 0
    while page := await chain_cases(tx, after):
        for case in page:
            findings += _findings(case)
            findings += _wrong_states(case)
            findings += _wrong_chain(case)
        chains += len(page)
        after = page[-1].chain.id
    for row in await stranded_chains(tx):
        findings.append(
            _finding(ChainInvariant.STEP_UNDER_WAY, row["queue_id"], "it waits for a step that nobody runs", row)
        )
    return Audited({"chains": chains}, findings)


def _findings(case: ChainCase) -> Iterator[Finding]:
    chain = case.chain
    places = {job.id: job.place for job in case.jobs}
    shapes = [Shape(job.operation_library, job.forward_operation, job.backward_operation) for job in case.jobs]
    for run in case.runs:
        steps = [RanStep(places.get(step.job_id, -1), step.direction, step.state) for step in case.steps[run.n]]
        found = audit_run(shapes[: run.job_number], steps)
        row = {"run": run.n, "started_at": run.started_at, "ended_at": run.ended_at}
        if found.problem is not None:
            yield _finding(ChainInvariant.WALK, chain.id, f"run {run.n}: {found.problem}", row)
        elif run.ended_at is not None and found.next is not None:
            yield _finding(ChainInvariant.WALK_ENDED, chain.id, f"run {run.n} ended before its walk", row)
        elif run.n == chain.run and run.ended_at is None:
            here = None if chain.place is None else Place(chain.place, chain.operation_direction)
            if here != found.next:
                yield _finding(ChainInvariant.WALK_PLACE, chain.id, f"run {run.n} is not where its steps have led", row)


def _wrong_chain(case: ChainCase) -> Iterator[Finding]:
    chain = case.chain
    last = next((run for run in case.runs if run.n == chain.run), None)
    goes_on, steps = last is not None and last.ended_at is None, len(case.steps[chain.run])
    if goes_on != (chain.state in (ChainState.RUNNING, ChainState.BLOCKED)):
        message = f"it is {chain.state}, but its last run has {'not ' if goes_on else ''}ended"
        yield _finding(ChainInvariant.CHAIN_STATE, chain.id, message, {"run": chain.run, "state": chain.state})
    if last is not None and chain.steps != steps:
        message = f"it counts {chain.steps} steps of its last run, of which {steps} are recorded"
        yield _finding(ChainInvariant.STEPS_COUNTED, chain.id, message, {"run": chain.run, "steps": chain.steps})


def _wrong_states(case: ChainCase) -> Iterator[Finding]:
    chain = case.chain
    runs = {n: [_ended(step) for step in steps] for n, steps in case.steps.items()}
    jobs = [ShownJob(job.id, job.operation_library, job.state) for job in case.jobs]
    for message in wrong_states(jobs, runs.get(chain.run, ())):
        yield _finding(ChainInvariant.JOB_STATE, chain.id, message, {"run": chain.run, "state": chain.state})
    for n, steps in runs.items():
        for message in shared_jobs(steps):
            yield _finding(ChainInvariant.STEP_JOB, chain.id, f"run {n}: {message}", {"run": n})
        for message in wrong_steps(steps, case.engine):
            yield _finding(ChainInvariant.STEP_END, chain.id, f"run {n}: {message}", {"run": n})


def _ended(step: StepRecord) -> EndedStep:
    backward = step.direction is Direction.BACKWARD
    return EndedStep(step.n, step.job_id, backward, step.state, step.returned, step.step_job)


def _finding(rule: ChainInvariant, queue_id: int, message: str, row: dict[str, Any]) -> Finding:
    return rule.broken(f"chain {queue_id}: {message}", queue=QUEUE, rows=(row,))


AUDIT = SurfaceAudit(verify_chains, (*ChainInvariant,), QUEUE)
