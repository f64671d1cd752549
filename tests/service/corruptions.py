"""Ways to spoil a sound history, each with the codes it must be found out by: the first names the spoiled job."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from hanbeon.domain.audit.findings import Code
from hanbeon.store.store import Store
from tests.service.lives import HOUR, Lives
from tests.service.raw_sql import (
    Told,
    age_changes,
    age_first_limit,
    end_attempt,
    first_id_of_a_batch,
    fold,
    is_first_limit,
    name_of_index,
    retell,
    retell_one,
    run_sql,
    seq_of,
    shift_attempt,
)

Doctor = Callable[[Store, Lives], Awaitable[str | None]]
NOTHING: Told = {"type": "nothing", "job_id": None, "state": None, "attempt": None, "details": {}}


class Doctored(NamedTuple):
    doctor: Doctor
    codes: tuple[Code, ...]


DOCTORS: dict[str, Doctored] = {}


def doctored(*codes: Code) -> Callable[[Doctor], Doctor]:
    """Register a doctor. It answers with the id of the job that a finding of the first code must name, or None."""

    def register(doctor: Doctor) -> Doctor:
        DOCTORS[doctor.__name__] = Doctored(doctor, codes)
        return doctor

    return register


@doctored(Code.EVENT_GAP)
async def a_batch_of_events_that_move_nothing_is_gone(store: Store, lives: Lives) -> None:
    await retell_one(store, lives["running"], "overdue", NOTHING)
    rows = await run_sql(store, "SELECT seq, body FROM hanbeon.event_batch")
    (seq,) = [row["seq"] for row in rows if '"nothing"' in row["body"]]
    await run_sql(store, "DELETE FROM hanbeon.event_batch WHERE seq = $1", seq)


@doctored(Code.EVENT_GAP, Code.STATE_MISMATCH, Code.MISSING_ATTEMPT, Code.TALLY_MISMATCH)
async def the_latest_events_are_gone(store: Store, lives: Lives) -> None:
    await run_sql(
        store, "DELETE FROM hanbeon.event_batch WHERE first_id = (SELECT max(first_id) FROM hanbeon.event_batch)"
    )


@doctored(Code.EVENT_GAP)
async def a_batch_holds_fewer_events_than_numbers(store: Store, lives: Lives) -> None:
    await run_sql(store, "UPDATE hanbeon.event_batch SET count = count + 1 WHERE first_id = $1", 1)
    await run_sql(store, "UPDATE hanbeon.event_batch SET first_id = -first_id - 1 WHERE first_id > 1")
    await run_sql(store, "UPDATE hanbeon.event_batch SET first_id = -first_id WHERE first_id < 0")
    await run_sql(store, "UPDATE hanbeon.event_counter SET last_id = last_id + 1")


@doctored(Code.EVENT_GAP)
async def a_batch_cannot_be_read(store: Store, lives: Lives) -> None:
    await retell_one(store, lives["running"], "overdue", NOTHING)
    await run_sql(store, """UPDATE hanbeon.event_batch SET body = '{"' WHERE body LIKE '%"nothing"%'""")


@doctored(Code.DOUBLED_EVENT, Code.EVENT_GAP)
async def two_batches_share_a_number(store: Store, lives: Lives) -> None:
    number = await first_id_of_a_batch(store, at_least=2)
    await run_sql(store, "UPDATE hanbeon.event_batch SET first_id = first_id - 1 WHERE first_id = $1", number)


@doctored(Code.DOUBLED_EVENT, Code.DOUBLED_JOB)
async def a_batch_stands_twice(store: Store, lives: Lives) -> None:
    await run_sql(store, f"DROP INDEX {name_of_index(store, 'hanbeon_event_number')}")
    await run_sql(
        store,
        "INSERT INTO hanbeon.event_batch (at, count, first_id, body) "
        "SELECT at, count, first_id, body FROM hanbeon.event_batch WHERE first_id = 1",
    )


@doctored(Code.DOUBLED_EVENT)
async def the_counter_went_back(store: Store, lives: Lives) -> None:
    await run_sql(store, "UPDATE hanbeon.event_counter SET last_id = last_id - 1")


@doctored(Code.ILLEGAL_TRANSITION)
async def a_ready_job_is_promoted(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["ready"], "reprioritised", {"type": "promoted"})
    return lives["ready"]


@doctored(Code.ILLEGAL_TRANSITION, Code.STATE_MISMATCH)
async def a_move_leads_elsewhere(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["ready"], "reprioritised", {"state": "pending"})
    return lives["ready"]


@doctored(Code.ILLEGAL_TRANSITION)
async def a_move_nobody_knows(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["ready"], "reprioritised", {"type": "teleported"})
    return lives["ready"]


@doctored(Code.ILLEGAL_TRANSITION, Code.LOST_JOB)
async def a_creation_is_not_told(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["ready"], "enqueued", NOTHING)
    return lives["ready"]


@doctored(Code.STATE_MISMATCH, Code.TALLY_MISMATCH)
async def a_job_changed_without_an_event(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET state = 'failed' WHERE id = $1", lives["retried"])
    return lives["retried"]


@doctored(Code.LOST_JOB, Code.TALLY_MISMATCH)
async def an_unfinished_job_is_gone(store: Store, lives: Lives) -> str:
    await run_sql(store, "DELETE FROM hanbeon.job WHERE id = $1", lives["ready"])
    return lives["ready"]


@doctored(Code.LOST_JOB, Code.TALLY_MISMATCH)
async def attempts_outlive_their_job(store: Store, lives: Lives) -> None:
    await run_sql(store, "DELETE FROM hanbeon.job WHERE id = $1", lives["retried"])


@doctored(Code.LOST_JOB)
async def a_job_nobody_has_heard_of(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["ready"], "enqueued", NOTHING)
    await retell_one(store, lives["ready"], "reprioritised", NOTHING)
    return lives["ready"]


@doctored(Code.LOST_JOB)
async def a_job_in_no_lane(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET lane = lane + 1000000 WHERE id = $1", lives["ready"])
    return lives["ready"]


@doctored(Code.DOUBLED_JOB)
async def a_creation_is_told_twice(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["ready"], "reprioritised", {"type": "enqueued"})
    return lives["ready"]


@doctored(Code.DOUBLED_JOB)
async def two_unfinished_jobs_hold_a_unique_key(store: Store, lives: Lives) -> str:
    await run_sql(store, f"DROP INDEX {name_of_index(store, 'hanbeon_job_unique')}")
    await run_sql(store, "UPDATE hanbeon.job SET unique_key = 'one' WHERE id = $1", lives["ready"])
    return min(lives["replacing"], lives["ready"])


@doctored(Code.DOUBLED_JOB)
async def two_jobs_came_of_one_idempotency_key(store: Store, lives: Lives) -> str:
    await run_sql(store, f"DROP INDEX {name_of_index(store, 'hanbeon_job_idempotency')}")
    await run_sql(store, "UPDATE hanbeon.job SET idempotency_key = 'a' WHERE id = $1", lives["ready"])
    return min(lives["replaced"], lives["ready"])


@doctored(Code.OVERLAPPING_CLAIMS)
async def two_attempts_overlap(store: Store, lives: Lives) -> str:
    await shift_attempt(store, lives["retried"], 1, "ended_at", HOUR)
    return lives["retried"]


@doctored(Code.OVERLAPPING_CLAIMS)
async def an_attempt_outlives_the_next_claim(store: Store, lives: Lives) -> str:
    await shift_attempt(store, lives["running"], 1, "ended_at", HOUR)
    return lives["running"]


@doctored(Code.OVERLAPPING_CLAIMS)
async def an_attempt_ends_before_it_starts(store: Store, lives: Lives) -> str:
    await shift_attempt(store, lives["first"], 1, "ended_at", -HOUR)
    return lives["first"]


@doctored(Code.DOUBLED_CLAIM, Code.MISSING_ATTEMPT)
async def a_number_is_claimed_twice(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["retried"], "claimed", {"attempt": 1}, attempt=2)
    return lives["retried"]


@doctored(Code.DOUBLED_CLAIM, Code.MISSING_ATTEMPT)
async def the_running_attempt_has_ended(store: Store, lives: Lives) -> str:
    await end_attempt(store, lives["third"], 1)
    return lives["third"]


@doctored(Code.DOUBLED_CLAIM, Code.MISSING_ATTEMPT)
async def a_fence_went_back(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET fence = 1 WHERE id = $1", lives["retried"])
    return lives["retried"]


@doctored(Code.MISSING_ATTEMPT)
async def an_attempt_was_not_written_down(store: Store, lives: Lives) -> str:
    seq = await seq_of(store, lives["retried"])
    await run_sql(store, "DELETE FROM hanbeon.past_attempt WHERE job = $1 AND attempt = 1", seq)
    return lives["retried"]


@doctored(Code.MISSING_ATTEMPT)
async def an_attempt_nobody_claimed(store: Store, lives: Lives) -> str:
    await end_attempt(store, lives["first"], 1)
    await run_sql(store, "UPDATE hanbeon.job SET fence = 2 WHERE id = $1", lives["first"])
    return lives["first"]


@doctored(Code.MISSING_ATTEMPT)
async def a_running_attempt_nobody_claimed(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET fence = 2 WHERE id = $1", lives["third"])
    return lives["third"]


@doctored(Code.MISSING_ATTEMPT)
async def an_end_names_no_attempt(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["retried"], "succeeded", {"attempt": None})
    return lives["retried"]


@doctored(Code.LIMIT_EXCEEDED)
async def a_queue_was_full(store: Store, lives: Lives) -> str:
    await age_first_limit(store)
    await shift_attempt(store, lives["narrow1"], 1, "ended_at", HOUR)
    return lives["narrow4"]


@doctored(Code.LIMIT_EXCEEDED)
async def a_role_was_full(store: Store, lives: Lives) -> str:
    await age_first_limit(store, max_concurrent=0, max_per_key=0)
    await shift_attempt(store, lives["narrow0"], 1, "ended_at", HOUR)
    return lives["narrow1"]


@doctored(Code.LIMIT_EXCEEDED)
async def a_key_was_full(store: Store, lives: Lives) -> str:
    await age_first_limit(store, max_concurrent=0, roles={})
    await shift_attempt(store, lives["narrow2"], 1, "ended_at", HOUR)
    return lives["narrow3"]


@doctored(Code.LIMIT_EXCEEDED)
async def a_queue_was_filled_by_what_still_runs(store: Store, lives: Lives) -> str:
    await age_first_limit(store)
    for column in ("started_at", "ended_at"):
        await shift_attempt(store, lives["narrow4"], 1, column, HOUR)
    return lives["narrow4"]


@doctored(Code.LIMIT_EXCEEDED)
async def a_limit_did_not_hold_whose_change_was_pruned(store: Store, lives: Lives) -> str:
    await fold(store)
    for table in ("event_batch", "queue_batch"):
        await run_sql(store, f"DELETE FROM hanbeon.{table}")
    await run_sql(store, "UPDATE hanbeon.queue SET changed_at = changed_at - $1 WHERE name = 'narrow'", HOUR)
    return lives["narrow2"]


@doctored(Code.STARTED_WHILE_PAUSED)
async def a_queue_was_paused(store: Store, lives: Lives) -> str:
    def change(event: Told) -> Told | None:
        if event["type"] != "queue_changed" or event["queue"] != "narrow" or not event["details"]["paused"]:
            return None
        return event | {"at": event["at"] - HOUR, "details": event["details"] | {"limits": {}}}

    assert await retell(store, change) == 1
    await age_changes(store, "narrow", lambda event: 2 * HOUR if is_first_limit(event) else 0)
    return lives["narrow0"]


@doctored(Code.BROKEN_DEPENDENCY, Code.TALLY_MISMATCH)
async def a_job_started_too_early(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET finished_at = finished_at + $1 WHERE id = $2", HOUR, lives["first"])
    return lives["second"]


@doctored(Code.BROKEN_DEPENDENCY)
async def a_job_forgot_what_it_waits_for(store: Store, lives: Lives) -> str:
    of_job = "job = (SELECT j.seq FROM hanbeon.job AS j WHERE j.id = $1)"
    await run_sql(store, f"DELETE FROM hanbeon.unmet WHERE {of_job}", lives["blocked"])
    await run_sql(store, "UPDATE hanbeon.job SET blocked = false WHERE id = $1", lives["blocked"])
    return lives["blocked"]


@doctored(Code.BROKEN_DEPENDENCY)
async def a_job_is_blocked_by_nothing(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET blocked = true WHERE id = $1", lives["third"])
    return lives["third"]


@doctored(Code.BROKEN_DEPENDENCY)
async def a_job_waits_for_too_many(store: Store, lives: Lives) -> str:
    of_job = "job = (SELECT j.seq FROM hanbeon.job AS j WHERE j.id = $1)"
    await run_sql(store, f"UPDATE hanbeon.unmet SET dependencies = 1 WHERE {of_job}", lives["third"])
    await run_sql(store, "UPDATE hanbeon.job SET blocked = true WHERE id = $1", lives["third"])
    return lives["third"]


@doctored(Code.BROKEN_DEPENDENCY)
async def a_job_ran_behind_one_that_failed(store: Store, lives: Lives) -> str:
    await run_sql(
        store,
        "INSERT INTO hanbeon.edge (dependency, dependent) VALUES ($1, $2)",
        await seq_of(store, lives["broken"]),
        await seq_of(store, lives["third"]),
    )
    return lives["third"]


@doctored(Code.BROKEN_DEPENDENCY)
async def a_dependency_is_gone(store: Store, lives: Lives) -> str:
    seq = await seq_of(store, lives["broken"])
    blocked = await seq_of(store, lives["blocked"])
    await run_sql(
        store, "UPDATE hanbeon.edge SET dependency = $1 WHERE dependency = $2 AND dependent = $3", -seq, seq, blocked
    )
    return lives["blocked"]


LOG = "INSERT INTO hanbeon.log (job, attempt, n, first_line, lines, body) VALUES ($1, $2, $3, $4, 2, '[]')"


@doctored(Code.LOST_JOB)
async def a_job_is_gone_and_its_log_is_not(store: Store, lives: Lives) -> None:
    await run_sql(store, LOG, 10**9, 1, 1, 1)


@doctored(Code.LOST_JOB)
async def a_job_is_gone_and_its_trace_is_not(store: Store, lives: Lives) -> None:
    await run_sql(store, "INSERT INTO hanbeon.trace (job, context) VALUES ($1, 'x')", 10**9)


@doctored(Code.BROKEN_LOG)
async def a_log_is_of_an_attempt_that_nobody_claimed(store: Store, lives: Lives) -> str:
    job = await store.job(lives["retried"])
    await run_sql(store, LOG, job.seq, job.fence + 1, 1, 1)
    return job.id


@doctored(Code.BROKEN_LOG)
async def a_log_has_the_same_lines_twice(store: Store, lives: Lives) -> str:
    seq = await seq_of(store, lives["retried"])
    await run_sql(store, LOG, seq, 1, 1, 1)
    await run_sql(store, LOG, seq, 1, 2, 2)
    return lives["retried"]


@doctored(Code.TALLY_MISMATCH)
async def a_tally_is_off(store: Store, lives: Lives) -> None:
    await fold(store)
    await run_sql(store, "UPDATE hanbeon.tally SET jobs = jobs + 1 WHERE state = 'succeeded'")


@doctored(Code.TALLY_MISMATCH)
async def the_time_that_jobs_ran_is_off(store: Store, lives: Lives) -> None:
    await fold(store)
    await run_sql(store, "UPDATE hanbeon.tally SET ran_us = ran_us - 1 WHERE state = 'succeeded'")


@doctored(Code.TALLY_MISMATCH, Code.BROKEN_INDEX)
async def all_was_folded_twice(store: Store, lives: Lives) -> None:
    await fold(store)
    await run_sql(store, "UPDATE hanbeon.fold SET folded_to = 0")


@doctored(Code.TALLY_MISMATCH, Code.BROKEN_INDEX)
async def a_batch_was_never_folded(store: Store, lives: Lives) -> None:
    await run_sql(store, "UPDATE hanbeon.fold SET folded_to = (SELECT max(first_id) FROM hanbeon.event_batch)")


@doctored(Code.BROKEN_INDEX)
async def an_office_misses_a_batch(store: Store, lives: Lives) -> None:
    await fold(store)
    last = "SELECT max(first_id) FROM hanbeon.queue_batch"
    await run_sql(store, f"DELETE FROM hanbeon.queue_batch WHERE first_id = ({last})")


@doctored(Code.BROKEN_INDEX)
async def an_office_is_sent_to_a_batch_of_others(store: Store, lives: Lives) -> None:
    await fold(store)
    await run_sql(
        store,
        "INSERT INTO hanbeon.queue_batch (queue_id, first_id) SELECT max(queue_id), 1 FROM hanbeon.queue_batch",
    )


@doctored(Code.BROKEN_INDEX)
async def an_office_is_sent_to_a_batch_that_is_not_there(store: Store, lives: Lives) -> None:
    """Reading on from there would pass over the rest of the batch that does hold that number."""
    await fold(store)
    await run_sql(store, "INSERT INTO hanbeon.queue_batch SELECT max(queue_id), -1 FROM hanbeon.queue_batch")


@doctored(Code.BROKEN_INDEX)
async def an_index_outlives_its_queue(store: Store, lives: Lives) -> None:
    await fold(store)
    await run_sql(store, "INSERT INTO hanbeon.queue_batch SELECT max(id) + 1, 1 FROM hanbeon.queue")


@doctored(Code.STUCK_JOB)
async def nobody_promotes(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET run_at = run_at - $1 WHERE id = $2", 2 * HOUR, lives["delayed"])
    return lives["delayed"]


@doctored(Code.STUCK_JOB)
async def nobody_recovers(store: Store, lives: Lives) -> str:
    await run_sql(
        store, "UPDATE hanbeon.job SET locked_until = locked_until - $1 WHERE id = $2", HOUR, lives["running"]
    )
    return lives["running"]


@doctored(Code.BROKEN_DISPATCH)
async def a_request_to_stream_workers_is_gone(store: Store, lives: Lives) -> str:
    await run_sql(store, "DELETE FROM hanbeon.dispatch WHERE job = $1", await seq_of(store, lives["sent"]))
    return lives["sent"]


@doctored(Code.BROKEN_DISPATCH)
async def a_request_to_stream_workers_outlives_its_job(store: Store, lives: Lives) -> str:
    seq = await seq_of(store, lives["answered"])
    await run_sql(store, "UPDATE hanbeon.dispatch SET close_at = NULL WHERE job = $1", seq)
    return lives["answered"]
