"""Audit of chains: a step under way for each that runs, walks, and the states shown; a part of `hanbeon verify`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hanbeon.domain.audit.findings import Finding, FindingCode
from hanbeon.service.verify import Audited, SurfaceAudit
from hanbeon.store.tx import Tx
from hanbeon.surfaces.chains import audit_cases as audit
from hanbeon.surfaces.chains.audit_cases import ChainCase
from hanbeon.surfaces.chains.literals import Direction
from hanbeon.surfaces.chains.rows import StepRecord
from hanbeon.surfaces.chains.state_audit import EndedStep, ShownJob, wrong_states, wrong_steps
from hanbeon.surfaces.chains.steps import QUEUE
from hanbeon.surfaces.chains.walk import Cursor
from hanbeon.surfaces.chains.walk_audit import RanStep, audit_run


class ChainCode(FindingCode):
    """The kinds of inconsistency of chains, in the order in which they are reported."""

    STRANDED_CHAIN = "stranded_chain", "a chain is running, but no unfinished job of the engine runs its step"
    BROKEN_WALK = "broken_walk", "a run of a chain did other operations than its walk, or in another order"
    BROKEN_CHAIN = (
        "broken_chain",
        "a job of a chain shows a state that its steps did not leave, or a step ended unlike its job",
    )


async def verify_chains(tx: Tx, now: int) -> Audited:
    """Check every chain with the runs that are kept."""
    chains, findings, after = 0, list[Finding](), 0
    while page := await audit.chain_cases(tx, after):
        for case in page:
            findings += _findings(case)
            findings += _wrong_states(case)
        chains += len(page)
        after = page[-1].chain.id
    for row in await audit.stranded_chains(tx):
        findings.append(
            _finding(ChainCode.STRANDED_CHAIN, row["queue_id"], "it waits for a step that nobody runs", row)
        )
    return Audited({"chains": chains}, findings)


def _findings(case: ChainCase) -> Iterator[Finding]:
    chain = case.chain
    places = {job.id: job.place for job in case.jobs}
    shapes = [job.shape for job in case.jobs]
    for run in case.runs:
        steps = [RanStep(places[step.job_id], step.direction, step.state) for step in case.steps.get(run.n, ())]
        found = audit_run(shapes[: run.job_number], steps)
        row = {"run": run.n, "started_at": run.started_at, "ended_at": run.ended_at}
        if found.problem is not None:
            yield _finding(ChainCode.BROKEN_WALK, chain.id, f"run {run.n}: {found.problem}", row)
        elif run.ended_at is not None and found.next is not None:
            yield _finding(ChainCode.BROKEN_WALK, chain.id, f"run {run.n} ended before its walk", row)
        elif run.n == chain.run and run.ended_at is None:
            here = None if chain.place is None else Cursor(chain.place, chain.operation_direction)
            if here != found.next:
                yield _finding(ChainCode.BROKEN_WALK, chain.id, f"run {run.n} is not where its steps have led", row)


def _wrong_states(case: ChainCase) -> Iterator[Finding]:
    chain = case.chain
    runs = {n: [_ended(step) for step in steps] for n, steps in case.steps.items()}
    jobs = [ShownJob(job.id, job.operation_library, job.state) for job in case.jobs]
    for message in wrong_states(jobs, runs.get(chain.run, ())):
        yield _finding(ChainCode.BROKEN_CHAIN, chain.id, message, {"run": chain.run, "state": chain.state})
    for n, steps in runs.items():
        for message in wrong_steps(steps, case.engine):
            yield _finding(ChainCode.BROKEN_CHAIN, chain.id, f"run {n}: {message}", {"run": n})


def _ended(step: StepRecord) -> EndedStep:
    backward = step.direction is Direction.BACKWARD
    return EndedStep(step.n, step.job_id, backward, step.state, step.returned, step.step_job)


def _finding(code: ChainCode, queue_id: int, message: str, row: dict[str, Any]) -> Finding:
    return Finding(code=code, message=f"chain {queue_id}: {message}", queue=QUEUE, rows=(row,))


AUDIT = SurfaceAudit(verify_chains, (*ChainCode,))
