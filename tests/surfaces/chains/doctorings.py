"""Chains that ran, one of them back, and one that waits for its step; and ways to break their invariants."""

from __future__ import annotations

from typing import NamedTuple

from hanbeon.domain.audit.findings import Code
from hanbeon.surfaces.chains.verify import ChainCode, ChainInvariant
from hanbeon.testing import TestKit
from tests.clinic import Doctorings, Patient
from tests.surfaces.chains.chain_kit import ChainKit, job


class Ran(NamedTuple):
    """`undone` went forward over job 0, failed at job 1 and undid both; job 2 never ran. `done` ran to its end, with a
    job that has no operation. `waits` has its first step as a job that has not begun.
    """

    undone: int
    done: int
    waits: int


async def live(kit: TestKit) -> Ran:
    chains = ChainKit(kit)
    undone = await chains.chain(job("a"), job("b", "fail"), job("c"))
    done = await chains.chain(job("a"), job("b", "NO_OPERATION"), job("c"))
    for each in (undone, done):
        await chains.run(each)
    return Ran(undone.queue_id, done.queue_id, 0)


async def leave(kit: TestKit, ran: Ran) -> Ran:
    chains = ChainKit(kit)
    waits = await chains.chain(job("a"), job("b"))
    await chains.chains.run(waits)
    return ran._replace(waits=waits.queue_id)


DOCTORINGS = Doctorings("chains")


async def _engine_job(patient: Patient, chain: int, step: int) -> int:
    """Return the number of the engine's job that ran a step, from 1 on."""
    rows = await patient.sql(
        "SELECT j.seq FROM hanbeon.chain_step AS s JOIN hanbeon.job AS j ON j.id = s.step_job "
        "WHERE s.chain_id = $1 ORDER BY s.n",
        chain,
    )
    return int(rows[step - 1]["seq"])


@DOCTORINGS.breaks(ChainInvariant.STEP_UNDER_WAY)
async def a_chain_waits_for_a_job_that_is_not_there(patient: Patient) -> None:
    nobody = "00000000-0000-0000-0000-000000000001"
    await patient.sql("UPDATE hanbeon.chain SET step_job = $1 WHERE id = $2", nobody, patient.facts.waits)


@DOCTORINGS.breaks(ChainInvariant.STEP_UNDER_WAY)
async def a_chain_waits_for_a_job_that_has_ended(patient: Patient) -> None:
    await patient.sql(
        "UPDATE hanbeon.chain SET step_job = (SELECT s.step_job FROM hanbeon.chain_step AS s WHERE s.chain_id = $1 "
        "AND s.n = 1) WHERE id = $2",
        patient.facts.undone,
        patient.facts.waits,
    )


@DOCTORINGS.breaks(ChainInvariant.WALK, ChainCode.BROKEN_CHAIN)
async def a_chain_skips_an_undo(patient: Patient) -> None:
    """The last step is the undo of job 0."""
    await patient.sql(
        "DELETE FROM hanbeon.chain_step WHERE chain_id = $1 AND n = (SELECT max(s.n) - 1 FROM hanbeon.chain_step AS s "
        "WHERE s.chain_id = $1)",
        patient.facts.undone,
    )


@DOCTORINGS.breaks(ChainInvariant.WALK)
async def a_chain_undoes_in_another_order(patient: Patient) -> None:
    places = "SELECT min(t.n) FROM hanbeon.chain_step AS t WHERE t.chain_id = $1 AND t.direction = 'BACKWARD'"
    await patient.sql(
        f"UPDATE hanbeon.chain_step SET n = n + 100 WHERE chain_id = $1 AND n = ({places})", patient.facts.undone
    )


@DOCTORINGS.breaks(ChainInvariant.WALK, ChainCode.BROKEN_CHAIN)
async def a_chain_goes_the_other_way(patient: Patient) -> None:
    await patient.sql(
        "UPDATE hanbeon.chain_step SET direction = 'BACKWARD' WHERE chain_id = $1 AND n = 1", patient.facts.done
    )


@DOCTORINGS.breaks(ChainInvariant.WALK, ChainCode.BROKEN_CHAIN)
async def a_step_that_runs_nothing_is_missing(patient: Patient) -> None:
    await patient.sql("DELETE FROM hanbeon.chain_step WHERE chain_id = $1 AND step_job IS NULL", patient.facts.done)
    await patient.sql(
        "UPDATE hanbeon.chain_job SET state = 'NOTYET' WHERE chain_id = $1 AND place = 1", patient.facts.done
    )


@DOCTORINGS.breaks(ChainInvariant.WALK_ENDED, ChainCode.BROKEN_CHAIN)
async def a_run_ended_before_its_last_step(patient: Patient) -> None:
    await patient.sql(
        "DELETE FROM hanbeon.chain_step WHERE chain_id = $1 AND n = (SELECT max(s.n) FROM hanbeon.chain_step AS s "
        "WHERE s.chain_id = $1)",
        patient.facts.done,
    )


@DOCTORINGS.breaks(ChainInvariant.WALK_PLACE)
async def a_chain_stands_one_job_too_far(patient: Patient) -> None:
    await patient.sql("UPDATE hanbeon.chain SET place = place + 1 WHERE id = $1", patient.facts.waits)


@DOCTORINGS.breaks(ChainInvariant.WALK_PLACE)
async def a_chain_stands_the_other_way(patient: Patient) -> None:
    await patient.sql("UPDATE hanbeon.chain SET operation_direction = 'BACKWARD' WHERE id = $1", patient.facts.waits)


@DOCTORINGS.breaks(ChainInvariant.CHAIN_STATE, ChainCode.BROKEN_WALK)
async def a_running_chain_is_shown_as_ready(patient: Patient) -> None:
    await patient.sql(
        "UPDATE hanbeon.chain SET state = 'READY', place = NULL, step_job = NULL WHERE id = $1", patient.facts.waits
    )


@DOCTORINGS.breaks(ChainInvariant.CHAIN_STATE)
async def a_chain_that_has_ended_is_shown_as_blocked(patient: Patient) -> None:
    await patient.sql("UPDATE hanbeon.chain SET state = 'BLOCKED', place = 0 WHERE id = $1", patient.facts.undone)


@DOCTORINGS.breaks(ChainInvariant.CHAIN_STATE, ChainCode.BROKEN_WALK)
async def the_run_of_a_running_chain_has_ended(patient: Patient) -> None:
    await patient.sql("UPDATE hanbeon.chain_run SET ended_at = 1 WHERE chain_id = $1", patient.facts.waits)


@DOCTORINGS.breaks(ChainInvariant.STEPS_COUNTED)
async def a_chain_counts_too_many_steps(patient: Patient) -> None:
    await patient.sql("UPDATE hanbeon.chain SET steps = steps + 1 WHERE id = $1", patient.facts.undone)


@DOCTORINGS.breaks(ChainInvariant.WALK)
async def a_job_of_a_chain_is_gone(patient: Patient) -> None:
    await patient.sql("DELETE FROM hanbeon.chain_job WHERE chain_id = $1 AND place = 0", patient.facts.undone)


@DOCTORINGS.breaks(ChainInvariant.JOB_STATE)
async def an_undone_job_is_shown_as_done(patient: Patient) -> None:
    await patient.sql(
        "UPDATE hanbeon.chain_job SET state = 'SUCCESS' WHERE chain_id = $1 AND place = 0", patient.facts.undone
    )


@DOCTORINGS.breaks(ChainInvariant.JOB_STATE)
async def a_job_that_never_ran_is_shown_as_done(patient: Patient) -> None:
    await patient.sql(
        "UPDATE hanbeon.chain_job SET state = 'SUCCESS' WHERE chain_id = $1 AND place = 2", patient.facts.undone
    )


@DOCTORINGS.breaks(ChainInvariant.STEP_END, Code.STATE_MISMATCH, Code.TALLY_MISMATCH)
async def the_job_of_an_undone_step_failed(patient: Patient) -> None:
    seq = await _engine_job(patient, patient.facts.undone, 4)
    await patient.sql("UPDATE hanbeon.job SET state = 'failed' WHERE seq = $1", seq)


@DOCTORINGS.breaks(ChainInvariant.STEP_END, Code.STATE_MISMATCH, Code.TALLY_MISMATCH, Code.MISSING_ATTEMPT)
async def the_job_of_a_failed_step_succeeded(patient: Patient) -> None:
    seq = await _engine_job(patient, patient.facts.undone, 2)
    await patient.sql("UPDATE hanbeon.job SET state = 'succeeded' WHERE seq = $1", seq)


@DOCTORINGS.breaks(ChainInvariant.STEP_END)
async def the_job_of_a_failed_step_timed_out(patient: Patient) -> None:
    seq = await _engine_job(patient, patient.facts.undone, 2)
    await patient.sql("UPDATE hanbeon.job SET failure_type = 'timeout' WHERE seq = $1", seq)


@DOCTORINGS.breaks(
    ChainInvariant.STEP_END, Code.STATE_MISMATCH, Code.TALLY_MISMATCH, Code.MISSING_ATTEMPT, Code.STUCK_JOB
)
async def the_job_of_a_step_waits(patient: Patient) -> None:
    seq = await _engine_job(patient, patient.facts.undone, 4)
    await patient.sql(
        "UPDATE hanbeon.job SET state = 'pending', run_at = 0, finished_at = NULL, attempt_status = NULL "
        "WHERE seq = $1",
        seq,
    )


@DOCTORINGS.breaks(ChainInvariant.STEP_JOB)
async def two_steps_were_run_by_one_job(patient: Patient) -> None:
    first = "SELECT s.step_job FROM hanbeon.chain_step AS s WHERE s.chain_id = $1 AND s.n = 1"
    await patient.sql(
        f"UPDATE hanbeon.chain_step SET step_job = ({first}) WHERE chain_id = $1 AND n = 4", patient.facts.undone
    )
