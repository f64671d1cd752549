"""Chains as an audit reads them: whole, with all runs that are kept."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import msgspec

from hanbeon.domain.lifecycle import State
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
from hanbeon.surfaces.chains.state_audit import EngineEnd

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
