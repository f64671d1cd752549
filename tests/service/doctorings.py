"""Ways to break the invariants of the engine."""

from collections.abc import Awaitable, Callable

from hanbeon.domain.audit.findings import Code, EngineInvariant
from hanbeon.store.store import Store
from hanbeon.testing import TestKit
from tests.clinic import Doctorings, Patient
from tests.service.lives import HOUR, Lives
from tests.service.lives import live as live_through
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
from tests.store.world import new_id

NOTHING: Told = {"type": "nothing", "job_id": None, "state": None, "attempt": None, "details": {}}
DOCTORINGS = Doctorings("engine")
EngineDoctor = Callable[[Store, Lives], Awaitable[str | None]]


def breaks(invariant: EngineInvariant, *also: Code, only: str | None = None) -> Callable[[EngineDoctor], EngineDoctor]:
    """Register a way to break an invariant; it gets the store and the jobs by name."""

    def register(doctor: EngineDoctor) -> EngineDoctor:
        async def treat(patient: Patient) -> str | None:
            return await doctor(patient.store, Lives(patient.store, patient.facts))

        treat.__name__ = doctor.__name__
        DOCTORINGS.breaks(invariant, *also, only=only)(treat)
        return doctor

    return register


async def live(kit: TestKit) -> None:
    """Nothing yet: jobs of instances that are not there would be recovered."""


async def leave(kit: TestKit, _: None) -> dict[str, str]:
    """Return the ids of its jobs by name."""
    return (await live_through(kit.app.store, kit.clock)).ids


@breaks(EngineInvariant.NO_HOLE)
async def a_batch_of_events_that_move_nothing_is_gone(store: Store, lives: Lives) -> None:
    await retell_one(store, lives["running"], "overdue", NOTHING)
    rows = await run_sql(store, "SELECT seq, body FROM hanbeon.event_batch")
    (seq,) = [row["seq"] for row in rows if '"nothing"' in row["body"]]
    await run_sql(store, "DELETE FROM hanbeon.event_batch WHERE seq = $1", seq)


@breaks(EngineInvariant.NO_END_MISSING, Code.STATE_MISMATCH, Code.MISSING_ATTEMPT, Code.TALLY_MISMATCH)
async def the_latest_events_are_gone(store: Store, lives: Lives) -> None:
    await run_sql(
        store, "DELETE FROM hanbeon.event_batch WHERE first_id = (SELECT max(first_id) FROM hanbeon.event_batch)"
    )


@breaks(EngineInvariant.FULL_BATCH)
async def a_batch_holds_fewer_events_than_numbers(store: Store, lives: Lives) -> None:
    await run_sql(store, "UPDATE hanbeon.event_batch SET count = count + 1 WHERE first_id = $1", 1)
    await run_sql(store, "UPDATE hanbeon.event_batch SET first_id = -first_id - 1 WHERE first_id > 1")
    await run_sql(store, "UPDATE hanbeon.event_batch SET first_id = -first_id WHERE first_id < 0")
    await run_sql(store, "UPDATE hanbeon.event_counter SET last_id = last_id + 1")


@breaks(EngineInvariant.READABLE_BATCH)
async def a_batch_cannot_be_read(store: Store, lives: Lives) -> None:
    await retell_one(store, lives["running"], "overdue", NOTHING)
    await run_sql(store, """UPDATE hanbeon.event_batch SET body = '{"' WHERE body LIKE '%"nothing"%'""")


@breaks(EngineInvariant.ONE_BATCH_AN_ID, Code.EVENT_GAP)
async def two_batches_share_a_number(store: Store, lives: Lives) -> None:
    number = await first_id_of_a_batch(store, at_least=2)
    await run_sql(store, "UPDATE hanbeon.event_batch SET first_id = first_id - 1 WHERE first_id = $1", number)


@breaks(EngineInvariant.ONE_BATCH_AN_ID, Code.DOUBLED_JOB)
async def a_batch_stands_twice(store: Store, lives: Lives) -> None:
    await run_sql(store, f"DROP INDEX {name_of_index(store, 'hanbeon_event_number')}")
    await run_sql(
        store,
        "INSERT INTO hanbeon.event_batch (at, count, first_id, body) "
        "SELECT at, count, first_id, body FROM hanbeon.event_batch WHERE first_id = 1",
    )


@breaks(EngineInvariant.COUNTER_AHEAD)
async def the_counter_went_back(store: Store, lives: Lives) -> None:
    await run_sql(store, "UPDATE hanbeon.event_counter SET last_id = last_id - 1")


@breaks(EngineInvariant.LEGAL_MOVE)
async def a_ready_job_is_promoted(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["ready"], "reprioritised", {"type": "promoted"})
    return lives["ready"]


@breaks(EngineInvariant.LEGAL_MOVE, Code.STATE_MISMATCH)
async def a_move_leads_elsewhere(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["ready"], "reprioritised", {"state": "pending"})
    return lives["ready"]


@breaks(EngineInvariant.KNOWN_MOVE)
async def a_move_nobody_knows(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["ready"], "reprioritised", {"type": "teleported"})
    return lives["ready"]


@breaks(EngineInvariant.CREATED_FIRST, Code.LOST_JOB)
async def a_creation_is_missing(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["ready"], "enqueued", NOTHING)
    return lives["ready"]


@breaks(EngineInvariant.STATE_OF_LAST_EVENT, Code.TALLY_MISMATCH)
async def a_job_changed_without_an_event(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET state = 'failed' WHERE id = $1", lives["retried"])
    return lives["retried"]


@breaks(EngineInvariant.UNFINISHED_KEPT, Code.TALLY_MISMATCH)
async def an_unfinished_job_is_gone(store: Store, lives: Lives) -> str:
    await run_sql(store, "DELETE FROM hanbeon.job WHERE id = $1", lives["ready"])
    return lives["ready"]


@breaks(EngineInvariant.NO_ORPHAN, Code.TALLY_MISMATCH)
async def attempts_outlive_their_job(store: Store, lives: Lives) -> None:
    await run_sql(store, "DELETE FROM hanbeon.job WHERE id = $1", lives["retried"])


@breaks(EngineInvariant.CREATION_KNOWN)
async def a_job_without_events(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["ready"], "enqueued", NOTHING)
    await retell_one(store, lives["ready"], "reprioritised", NOTHING)
    return lives["ready"]


@breaks(EngineInvariant.HAS_LANE)
async def a_job_in_no_lane(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET lane = lane + 1000000 WHERE id = $1", lives["ready"])
    return lives["ready"]


@breaks(EngineInvariant.CREATED_ONCE)
async def a_creation_is_recorded_twice(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["ready"], "reprioritised", {"type": "enqueued"})
    return lives["ready"]


@breaks(EngineInvariant.UNIQUE_KEY)
async def two_unfinished_jobs_hold_a_unique_key(store: Store, lives: Lives) -> str:
    await run_sql(store, f"DROP INDEX {name_of_index(store, 'hanbeon_job_unique')}")
    await run_sql(store, "UPDATE hanbeon.job SET unique_key = 'one' WHERE id = $1", lives["ready"])
    return min(lives["replacing"], lives["ready"])


@breaks(EngineInvariant.IDEMPOTENCY_KEY)
async def two_jobs_came_of_one_idempotency_key(store: Store, lives: Lives) -> str:
    await run_sql(store, f"DROP INDEX {name_of_index(store, 'hanbeon_job_idempotency')}")
    await run_sql(store, "UPDATE hanbeon.job SET idempotency_key = 'a' WHERE id = $1", lives["ready"])
    return min(lives["replaced"], lives["ready"])


@breaks(EngineInvariant.ONE_AT_A_TIME)
async def two_attempts_overlap(store: Store, lives: Lives) -> str:
    await shift_attempt(store, lives["retried"], 1, "ended_at", HOUR)
    return lives["retried"]


@breaks(EngineInvariant.RUNS_ALONE)
async def an_attempt_outlives_the_next_claim(store: Store, lives: Lives) -> str:
    await shift_attempt(store, lives["running"], 1, "ended_at", HOUR)
    return lives["running"]


@breaks(EngineInvariant.ENDS_AFTER_START)
async def an_attempt_ends_before_it_starts(store: Store, lives: Lives) -> str:
    await shift_attempt(store, lives["first"], 1, "ended_at", -HOUR)
    return lives["first"]


@breaks(EngineInvariant.CLAIMS_GROW, Code.MISSING_ATTEMPT)
async def a_number_is_claimed_twice(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["retried"], "claimed", {"attempt": 1}, attempt=2)
    return lives["retried"]


@breaks(EngineInvariant.RUNNING_OPEN, Code.MISSING_ATTEMPT)
async def the_running_attempt_has_ended(store: Store, lives: Lives) -> str:
    await end_attempt(store, lives["third"], 1)
    return lives["third"]


@breaks(EngineInvariant.FENCE_AHEAD, Code.MISSING_ATTEMPT)
async def a_fence_went_back(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET fence = 0 WHERE id = $1", lives["running"])
    return lives["running"]


@breaks(EngineInvariant.ENDS_ONCE, Code.MISSING_ATTEMPT)
async def a_fence_is_that_of_the_attempt_before(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET fence = 1 WHERE id = $1", lives["retried"])
    return lives["retried"]


@breaks(EngineInvariant.CLAIM_KEPT)
async def an_attempt_was_not_written_down(store: Store, lives: Lives) -> str:
    seq = await seq_of(store, lives["retried"])
    await run_sql(store, "DELETE FROM hanbeon.past_attempt WHERE job = $1 AND attempt = 1", seq)
    return lives["retried"]


@breaks(EngineInvariant.ATTEMPT_CLAIMED)
async def an_attempt_nobody_claimed(store: Store, lives: Lives) -> str:
    await end_attempt(store, lives["first"], 1)
    await run_sql(store, "UPDATE hanbeon.job SET fence = 2 WHERE id = $1", lives["first"])
    return lives["first"]


@breaks(EngineInvariant.RUNNING_CLAIMED)
async def a_running_attempt_nobody_claimed(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET fence = 2 WHERE id = $1", lives["third"])
    return lives["third"]


@breaks(EngineInvariant.ATTEMPT_NAMED)
async def an_end_names_no_attempt(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["retried"], "succeeded", {"attempt": None})
    return lives["retried"]


@breaks(EngineInvariant.QUEUE_LIMIT)
async def a_queue_was_full(store: Store, lives: Lives) -> str:
    await age_first_limit(store)
    await shift_attempt(store, lives["narrow1"], 1, "ended_at", HOUR)
    return lives["narrow4"]


@breaks(EngineInvariant.ROLE_LIMIT)
async def a_role_was_full(store: Store, lives: Lives) -> str:
    await age_first_limit(store, max_concurrent=0, max_per_key=0)
    await shift_attempt(store, lives["narrow0"], 1, "ended_at", HOUR)
    return lives["narrow1"]


@breaks(EngineInvariant.KEY_LIMIT)
async def a_key_was_full(store: Store, lives: Lives) -> str:
    await age_first_limit(store, max_concurrent=0, roles={})
    await shift_attempt(store, lives["narrow2"], 1, "ended_at", HOUR)
    return lives["narrow3"]


@breaks(EngineInvariant.QUEUE_LIMIT)
async def a_queue_was_filled_by_what_still_runs(store: Store, lives: Lives) -> str:
    await age_first_limit(store)
    for column in ("started_at", "ended_at"):
        await shift_attempt(store, lives["narrow4"], 1, column, HOUR)
    return lives["narrow4"]


@breaks(EngineInvariant.QUEUE_LIMIT)
async def a_limit_did_not_hold_whose_change_was_pruned(store: Store, lives: Lives) -> str:
    await fold(store)
    for table in ("event_batch", "queue_batch"):
        await run_sql(store, f"DELETE FROM hanbeon.{table}")
    await run_sql(store, "UPDATE hanbeon.queue SET changed_at = changed_at - $1 WHERE name = 'narrow'", HOUR)
    return lives["narrow2"]


@breaks(EngineInvariant.PAUSE)
async def a_queue_was_paused(store: Store, lives: Lives) -> str:
    def change(event: Told) -> Told | None:
        if event["type"] != "queue_changed" or event["queue"] != "narrow" or not event["details"]["paused"]:
            return None
        return event | {"at": event["at"] - HOUR, "details": event["details"] | {"limits": {}}}

    assert await retell(store, change) == 1
    await age_changes(store, "narrow", lambda event: 2 * HOUR if is_first_limit(event) else 0)
    return lives["narrow0"]


@breaks(EngineInvariant.DEPENDENCY_FIRST, Code.TALLY_MISMATCH)
async def a_job_started_too_early(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET finished_at = finished_at + $1 WHERE id = $2", HOUR, lives["first"])
    return lives["second"]


@breaks(EngineInvariant.WAITS_FOR_AS_MANY)
async def a_job_forgot_what_it_waits_for(store: Store, lives: Lives) -> str:
    of_job = "job = (SELECT j.seq FROM hanbeon.job AS j WHERE j.id = $1)"
    await run_sql(store, f"DELETE FROM hanbeon.unmet WHERE {of_job}", lives["blocked"])
    await run_sql(store, "UPDATE hanbeon.job SET blocked = false WHERE id = $1", lives["blocked"])
    return lives["blocked"]


@breaks(EngineInvariant.BLOCKED_WHILE_WAITING)
async def a_job_is_blocked_by_nothing(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET blocked = true WHERE id = $1", lives["third"])
    return lives["third"]


@breaks(EngineInvariant.WAITS_FOR_AS_MANY)
async def a_job_waits_for_too_many(store: Store, lives: Lives) -> str:
    of_job = "job = (SELECT j.seq FROM hanbeon.job AS j WHERE j.id = $1)"
    await run_sql(store, f"UPDATE hanbeon.unmet SET dependencies = 1 WHERE {of_job}", lives["third"])
    await run_sql(store, "UPDATE hanbeon.job SET blocked = true WHERE id = $1", lives["third"])
    return lives["third"]


@breaks(EngineInvariant.DEPENDENCY_SUCCEEDED)
async def a_job_ran_behind_one_that_failed(store: Store, lives: Lives) -> str:
    await run_sql(
        store,
        "INSERT INTO hanbeon.edge (dependency, dependent) VALUES ($1, $2)",
        await seq_of(store, lives["broken"]),
        await seq_of(store, lives["third"]),
    )
    return lives["third"]


@breaks(EngineInvariant.DEPENDENCY_KEPT)
async def a_dependency_is_gone(store: Store, lives: Lives) -> str:
    seq = await seq_of(store, lives["broken"])
    blocked = await seq_of(store, lives["blocked"])
    await run_sql(
        store, "UPDATE hanbeon.edge SET dependency = $1 WHERE dependency = $2 AND dependent = $3", -seq, seq, blocked
    )
    return lives["blocked"]


LOG = "INSERT INTO hanbeon.log (job, attempt, n, first_line, lines, body) VALUES ($1, $2, $3, $4, 2, '[]')"


@breaks(EngineInvariant.NO_ORPHAN)
async def a_job_is_gone_and_its_log_is_not(store: Store, lives: Lives) -> None:
    await run_sql(store, LOG, 10**9, 1, 1, 1)


@breaks(EngineInvariant.NO_ORPHAN)
async def a_job_is_gone_and_its_trace_is_not(store: Store, lives: Lives) -> None:
    await run_sql(store, "INSERT INTO hanbeon.trace (job, context) VALUES ($1, 'x')", 10**9)


@breaks(EngineInvariant.NO_ORPHAN)
async def a_job_is_gone_and_its_expiry_is_not(store: Store, lives: Lives) -> None:
    await run_sql(store, "INSERT INTO hanbeon.expiry (job, at) VALUES ($1, 1)", 10**9)


@breaks(EngineInvariant.NO_ORPHAN)
async def a_job_is_gone_and_its_exception_is_not(store: Store, lives: Lives) -> None:
    sql = "INSERT INTO hanbeon.attempt_exception (job, attempt, exception, traceback) VALUES ($1, 1, 'x', 'x')"
    await run_sql(store, sql, 10**9)


@breaks(EngineInvariant.NO_ORPHAN)
async def a_job_is_gone_and_its_move_by_hand_is_not(store: Store, lives: Lives) -> None:
    await run_sql(store, "INSERT INTO hanbeon.hand_move (job, at, reason) VALUES ($1, 0, 'marked_done')", 10**9)


@breaks(EngineInvariant.SUCCESS_BY_ATTEMPT)
async def a_success_is_by_no_attempt_and_by_nobody(store: Store, lives: Lives) -> str:
    await run_sql(store, "DELETE FROM hanbeon.hand_move WHERE job = $1", await seq_of(store, lives["by_hand"]))
    return lives["by_hand"]


@breaks(EngineInvariant.LOG_OF_ATTEMPT)
async def a_log_is_of_an_attempt_that_nobody_claimed(store: Store, lives: Lives) -> str:
    job = await store.job(lives["retried"])
    await run_sql(store, LOG, job.seq, job.fence + 1, 1, 1)
    return job.id


@breaks(EngineInvariant.LOG_LINES_GROW)
async def a_log_has_the_same_lines_twice(store: Store, lives: Lives) -> str:
    seq = await seq_of(store, lives["retried"])
    await run_sql(store, LOG, seq, 1, 1, 1)
    await run_sql(store, LOG, seq, 1, 2, 2)
    return lives["retried"]


@breaks(EngineInvariant.TALLY_OF_JOBS)
async def a_tally_is_off(store: Store, lives: Lives) -> None:
    await fold(store)
    await run_sql(store, "UPDATE hanbeon.tally SET jobs = jobs + 1 WHERE state = 'succeeded'")


@breaks(EngineInvariant.TALLY_OF_TIME)
async def the_time_that_jobs_ran_is_off(store: Store, lives: Lives) -> None:
    await fold(store)
    await run_sql(store, "UPDATE hanbeon.tally SET ran_us = ran_us - 1 WHERE state = 'succeeded'")


@breaks(EngineInvariant.TALLY_OF_JOBS, Code.BROKEN_INDEX)
async def all_was_folded_twice(store: Store, lives: Lives) -> None:
    await fold(store)
    await run_sql(store, "UPDATE hanbeon.fold SET folded_to = 0")


@breaks(EngineInvariant.TALLY_OF_JOBS, Code.BROKEN_INDEX)
async def a_batch_was_never_folded(store: Store, lives: Lives) -> None:
    await run_sql(store, "UPDATE hanbeon.fold SET folded_to = (SELECT max(first_id) FROM hanbeon.event_batch)")


@breaks(EngineInvariant.INDEXED)
async def an_office_misses_a_batch(store: Store, lives: Lives) -> None:
    await fold(store)
    last = "SELECT max(first_id) FROM hanbeon.queue_batch"
    await run_sql(store, f"DELETE FROM hanbeon.queue_batch WHERE first_id = ({last})")


@breaks(EngineInvariant.INDEX_LEADS)
async def an_office_is_sent_to_a_batch_of_others(store: Store, lives: Lives) -> None:
    await fold(store)
    await run_sql(
        store,
        "INSERT INTO hanbeon.queue_batch (queue_id, first_id) SELECT max(queue_id), 1 FROM hanbeon.queue_batch",
    )


@breaks(EngineInvariant.INDEX_LEADS)
async def an_office_is_sent_to_a_batch_that_is_not_there(store: Store, lives: Lives) -> None:
    """Reading on from there would pass over the rest of the batch that does hold that number."""
    await fold(store)
    await run_sql(store, "INSERT INTO hanbeon.queue_batch SELECT max(queue_id), -1 FROM hanbeon.queue_batch")


@breaks(EngineInvariant.INDEX_LEADS)
async def an_index_outlives_its_queue(store: Store, lives: Lives) -> None:
    await fold(store)
    await run_sql(store, "INSERT INTO hanbeon.queue_batch SELECT max(id) + 1, 1 FROM hanbeon.queue")


@breaks(EngineInvariant.PROMOTED)
async def nobody_promotes(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET run_at = run_at - $1 WHERE id = $2", 2 * HOUR, lives["delayed"])
    return lives["delayed"]


@breaks(EngineInvariant.RECOVERED)
async def nobody_recovers(store: Store, lives: Lives) -> str:
    await run_sql(
        store, "UPDATE hanbeon.job SET locked_until = locked_until - $1 WHERE id = $2", HOUR, lives["running"]
    )
    return lives["running"]


@breaks(EngineInvariant.EXPIRED)
async def nobody_ends_what_has_expired(store: Store, lives: Lives) -> str:
    await run_sql(store, "INSERT INTO hanbeon.expiry (job, at) VALUES ($1, 1)", await seq_of(store, lives["delayed"]))
    return lives["delayed"]


@breaks(EngineInvariant.REQUEST_KEPT)
async def a_request_to_stream_workers_is_gone(store: Store, lives: Lives) -> str:
    await run_sql(store, "DELETE FROM hanbeon.dispatch WHERE job = $1", await seq_of(store, lives["sent"]))
    return lives["sent"]


@breaks(EngineInvariant.REQUEST_CLOSED)
async def a_request_to_stream_workers_outlives_its_job(store: Store, lives: Lives) -> str:
    seq = await seq_of(store, lives["answered"])
    await run_sql(store, "UPDATE hanbeon.dispatch SET close_at = NULL WHERE job = $1", seq)
    return lives["answered"]


@breaks(EngineInvariant.READABLE_CHANGE)
async def a_change_of_a_queue_says_nothing(store: Store, lives: Lives) -> None:
    def change(event: Told) -> Told | None:
        if event["type"] != "queue_changed" or event["queue"] != "wired" or not event["details"]["paused"]:
            return None
        return event | {"details": {"limits": "many"}}

    assert await retell(store, change) == 1


@breaks(EngineInvariant.ID_FOR_EACH, Code.ILLEGAL_TRANSITION, Code.DOUBLED_CLAIM)
async def a_batch_holds_more_events_than_numbers(store: Store, lives: Lives) -> None:
    rows = await run_sql(store, "SELECT seq, body FROM hanbeon.event_batch WHERE count = 1 ORDER BY seq")
    (seq, body) = next((row["seq"], row["body"]) for row in rows if row["body"].startswith('[{"type":"succeeded"'))
    doubled = f"[{body[1:-1]},{body[1:-1]}]"
    await run_sql(store, "UPDATE hanbeon.event_batch SET body = $1 WHERE seq = $2", doubled, seq)


@breaks(EngineInvariant.MOVE_OF_A_JOB)
async def a_move_is_of_no_job(store: Store, lives: Lives) -> None:
    await retell_one(store, lives["ready"], "reprioritised", {"job_id": None})


@breaks(EngineInvariant.MOVE_OF_A_JOB)
async def a_move_is_of_something_else(store: Store, lives: Lives) -> None:
    await retell_one(store, lives["ready"], "reprioritised", {"job_id": "table 7"})


@breaks(EngineInvariant.FOUND_BY_ID, Code.LOST_JOB, only="postgres")
async def an_id_leads_nowhere(store: Store, lives: Lives) -> str:
    await run_sql(store, "DELETE FROM hanbeon.job_id WHERE id = $1", lives["ready"])
    return lives["ready"]


@breaks(EngineInvariant.NO_ORPHAN, only="postgres")
async def an_id_has_no_job(store: Store, lives: Lives) -> None:
    await run_sql(store, "INSERT INTO hanbeon.job_id (id, seq) VALUES ($1, 1000000000)", new_id())


@breaks(EngineInvariant.NO_ORPHAN)
async def a_dependency_of_no_job(store: Store, lives: Lives) -> None:
    await run_sql(store, "INSERT INTO hanbeon.edge (dependency, dependent) VALUES (1, 1000000000)")


@breaks(EngineInvariant.NO_ORPHAN)
async def a_count_of_dependencies_of_no_job(store: Store, lives: Lives) -> None:
    await run_sql(store, "INSERT INTO hanbeon.unmet (job, dependencies) VALUES (1000000000, 1)")


@breaks(EngineInvariant.NO_ORPHAN)
async def an_attempt_of_no_job(store: Store, lives: Lives) -> None:
    await run_sql(
        store,
        "INSERT INTO hanbeon.past_attempt (job, attempt, status, started_at, ended_at) VALUES (-5, 1, 'failed', 1, 2)",
    )


@breaks(EngineInvariant.ENDS_ONCE)
async def an_attempt_has_two_rows(store: Store, lives: Lives) -> str:
    await end_attempt(store, lives["first"], 1)
    return lives["first"]


@breaks(EngineInvariant.ENDS_GROW, Code.MISSING_ATTEMPT)
async def an_attempt_ends_by_the_number_of_another(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["retried"], "succeeded", {"attempt": 1})
    return lives["retried"]


@breaks(EngineInvariant.DISPATCHES_GROW, Code.STATE_MISMATCH, Code.MISSING_ATTEMPT)
async def an_attempt_is_dispatched_twice(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["begun"], "claimed", {"type": "dispatched", "state": "ready"})
    return lives["begun"]


@breaks(EngineInvariant.END_KEPT)
async def an_end_is_kept_by_its_event_alone(store: Store, lives: Lives) -> str:
    seq = await seq_of(store, lives["running"])
    await run_sql(store, "DELETE FROM hanbeon.past_attempt WHERE job = $1 AND attempt = 1", seq)
    return lives["running"]


@breaks(EngineInvariant.ATTEMPT_ENDED, Code.ILLEGAL_TRANSITION)
async def an_end_is_missing(store: Store, lives: Lives) -> str:
    await retell_one(store, lives["retried"], "retried", NOTHING)
    return lives["retried"]


@breaks(EngineInvariant.END_AGREES)
async def an_attempt_is_said_to_have_failed(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.job SET attempt_status = 'failed' WHERE id = $1", lives["first"])
    return lives["first"]


@breaks(EngineInvariant.END_AGREES)
async def a_failed_attempt_is_said_to_have_completed(store: Store, lives: Lives) -> str:
    seq = await seq_of(store, lives["retried"])
    await run_sql(store, "UPDATE hanbeon.past_attempt SET status = 'completed' WHERE job = $1", seq)
    return lives["retried"]


@breaks(EngineInvariant.LIMITS_IN_FORCE)
async def a_limited_queue_is_claimed_from_freely(store: Store, lives: Lives) -> None:
    await run_sql(store, "UPDATE hanbeon.queue SET limited = false WHERE name = 'narrow'")


@breaks(EngineInvariant.LIMITS_IN_FORCE)
async def a_free_queue_is_claimed_from_as_if_limited(store: Store, lives: Lives) -> None:
    await run_sql(store, "UPDATE hanbeon.queue SET limited = true WHERE name = 'graph'")


@breaks(EngineInvariant.TALLY_OF_JOBS)
async def a_tally_is_gone(store: Store, lives: Lives) -> None:
    await fold(store)
    await run_sql(
        store,
        "DELETE FROM hanbeon.tally WHERE state = 'succeeded' "
        "AND queue_id = (SELECT q.id FROM hanbeon.queue AS q WHERE q.name = 'graph')",
    )


@breaks(EngineInvariant.LOG_LINES_GROW)
async def a_row_of_a_log_has_no_lines(store: Store, lives: Lives) -> str:
    seq = await seq_of(store, lives["retried"])
    await run_sql(store, LOG, seq, 1, 1, 1)
    await run_sql(store, "UPDATE hanbeon.log SET lines = 0")
    return lives["retried"]


@breaks(EngineInvariant.HAS_LANE)
async def a_lane_is_of_another_queue(store: Store, lives: Lives) -> str:
    await run_sql(store, "UPDATE hanbeon.lane SET queue_id = queue_id + 1000 WHERE task = 'ready'")
    return lives["ready"]


@breaks(EngineInvariant.STATE_OF_LAST_EVENT, Code.TALLY_MISMATCH)
async def a_job_was_cancelled_by_hand(store: Store, lives: Lives) -> str:
    await run_sql(
        store, "UPDATE hanbeon.job SET state = 'cancelled', finished_at = created_at WHERE id = $1", lives["ready"]
    )
    return lives["ready"]
