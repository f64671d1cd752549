"""Requests of clients: enqueues, keys, cancels, retries, callers' transactions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hanbeon.testing.simulation import CLIENT, Moment, Operation, Simulation
from tests.simulation.directed.case import Case, job, jobs, lose, mutant
from tests.simulation.directed.rules import bodies_last_at_most, jobs_are, states_are
from tests.simulation.workload.jobs import flaky, plain
from tests.simulation.workload.load import Book


async def cancel(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    """Cancel the job with this place among those that were enqueued."""
    await simulation.app.cancel(book.known()[args["number"]])


async def retry(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    job_id = book.known()[args["number"]]
    book.retried.add(job_id)
    await simulation.app.retry(job_id)


async def mark_done(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    await simulation.app.mark_done(book.known()[args["number"]], "done on paper")


async def unique(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    request = plain.call(seconds=args["seconds"]).set(unique_key="u", on_conflict=args["on_conflict"])
    await book.enqueue(simulation.app, [request], [1])


async def keyed(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    request = plain.call(seconds=0.1).set(idempotency_key="k")
    await book.enqueue(simulation.app, [request], [1])


async def enqueue_and_roll_back(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    request = flaky.call(count=0)
    try:
        async with simulation.app.transaction() as transaction:
            await book.enqueue(simulation.app, [request], [1], transaction)
            raise KeyError
    except KeyError:
        book.jobs[request.id].answer = "rolled back"


def _cancel(at: float, number: int) -> Operation:
    return Operation(at, "cancel_number", {"number": number})


def _unique(at: float, seconds: float, on_conflict: str) -> Operation:
    return Operation(at, "unique_plain", {"seconds": seconds, "on_conflict": on_conflict})


_SCHEMA = "store/migrations/0001_engine.sql"
_COMMANDS = {
    "cancel_number": cancel,
    "retry_number": retry,
    "mark_number_done": mark_done,
    "unique_plain": unique,
    "keyed_plain": keyed,
    "roll_back": enqueue_and_roll_back,
}

CASES = (
    Case(
        "The answer to the COMMIT of an enqueue is lost, and the call is repeated",
        [jobs(0.4, job(), job(), job())],
        [
            mutant(
                "a repeated enqueue has new ids",
                (
                    "store/unknown_outcome.py",
                    "            return await store.enqueue(jobs)\n        except DatabaseUnavailable as error:",
                    "            import msgspec, uuid\n"
                    "            again = [msgspec.structs.replace(each, id=str(uuid.uuid4())) for each in jobs]\n"
                    "            return await store.enqueue(again)\n        except DatabaseUnavailable as error:",
                ),
            )
        ],
        [lose(0.2, CLIENT, Moment.AFTER_COMMIT)],
        oracles=[jobs_are(3)],
    ),
    Case(
        "A running job is cancelled",
        [jobs(0.4, job(seconds=9.0)), _cancel(2.0, 0)],
        [
            mutant(
                "a request to stop reaches no body",
                ("engine/running_attempts.py", "            if seq in facts.stop:\n", "            if False:\n"),
            ),
            mutant(
                "a job that was stopped is not cancelled",
                (
                    "domain/outcome.py",
                    "if job.stop_requested or isinstance(outcome, Cancelled):",
                    "if isinstance(outcome, Cancelled):",
                ),
            ),
        ],
        commands=_COMMANDS,
        oracles=[bodies_last_at_most("plain", 5.0), states_are(plain="cancelled")],
    ),
    Case(
        "A job that waits is cancelled, and what depends on it fails",
        [
            jobs(0.4, job(delay=6.0), job("once", after=[0], on_dependency_failure="fail")),
            _cancel(2.0, 0),
        ],
        [
            mutant(
                "a cancel leaves dependents waiting",
                (
                    "store/operations/cancel.py",
                    '    await fail_dependents(tx, lanes, [row["seq"] for row in rows])\n    await run_end_hooks(tx, lanes, rows)\n',
                    "    await run_end_hooks(tx, lanes, rows)\n",
                ),
            ),
            mutant(
                "a cancel has no event",
                (
                    "store/operations/cancel.py",
                    "    await emit(tx, lanes, rows, reason, State.CANCELLED, was=_states(locked), replaced_by=replaced_by)\n",
                    "",
                ),
            ),
        ],
        commands=_COMMANDS,
        oracles=[states_are(plain="cancelled", once="failed")],
    ),
    Case(
        "A job that was cancelled is retried",
        [jobs(0.4, job(delay=6.0)), _cancel(2.0, 0), Operation(3.0, "retry_number", {"number": 0})],
        [
            mutant(
                "a retried job keeps the time of its end",
                (
                    "store/sql/jobs.sql",
                    "SET state = 'pending', run_at = n.now, retry_count = 0, finished_at = NULL,",
                    "SET state = 'pending', run_at = n.now, retry_count = 0,",
                ),
            ),
            mutant(
                "a retried job is not promoted",
                (
                    "store/operations/cancel.py",
                    '    return State.READY if await promote_these(tx, lanes, [row["seq"]]) else State.PENDING\n',
                    '    await tx.fetch("set_blocked", to_json([{"job": row["seq"], "dependencies": 1, "recount": False}]))\n    return State.PENDING\n',
                ),
            ),
        ],
        commands=_COMMANDS,
        oracles=[states_are(plain="succeeded")],
    ),
    Case(
        "A job that was cancelled is marked as done, and what depends on it runs",
        [
            jobs(0.4, job(delay=6.0), job("once", after=[0])),
            _cancel(2.0, 0),
            Operation(3.0, "mark_number_done", {"number": 0}),
        ],
        [
            mutant(
                "a job that is marked as done leaves its dependents waiting",
                ("store/operations/cancel.py", "    await meet_dependents(tx, lanes, [seq])\n", ""),
            ),
            mutant(
                "nobody knows who marked a job as done",
                (
                    "store/operations/cancel.py",
                    "    await note_hand_moves(tx, [seq], Reason.MARKED_DONE, user, comment)\n",
                    "",
                ),
            ),
        ],
        commands=_COMMANDS,
        oracles=[states_are(plain="succeeded", once="succeeded")],
    ),
    Case(
        "Jobs with one unique key arrive while one of them runs",
        [
            _unique(0.4, 3.0, "skip"),
            _unique(1.5, 0.1, "skip"),
            _unique(2.0, 0.1, "refuse"),
            _unique(6.0, 0.1, "refuse"),
        ],
        [
            mutant(
                "a finished job holds its unique key for ever",
                (
                    _SCHEMA,
                    "(unique_key)\n  WHERE unique_key IS NOT NULL AND state IN (@unfinished_states)",
                    "(unique_key)\n  WHERE unique_key IS NOT NULL",
                ),
            ),
            mutant(
                "unique keys are not unique",
                (_SCHEMA, "CREATE UNIQUE INDEX hanbeon_job_unique", "CREATE INDEX hanbeon_job_unique"),
            ),
        ],
        commands=_COMMANDS,
        oracles=[jobs_are(2)],
    ),
    Case(
        "An idempotency key is sent again after its job has ended",
        [Operation(0.4, "keyed_plain"), Operation(5.0, "keyed_plain")],
        [
            mutant(
                "a used idempotency key makes another job",
                (_SCHEMA, "CREATE UNIQUE INDEX hanbeon_job_idempotency", "CREATE INDEX hanbeon_job_idempotency"),
            )
        ],
        commands=_COMMANDS,
        oracles=[jobs_are(1)],
    ),
    Case(
        "A caller enqueues in its own transaction and rolls it back",
        [Operation(0.4, "roll_back"), jobs(1.0, job())],
        [
            mutant(
                "jobs of a caller's transaction are created outside it",
                (
                    "store/store.py",
                    "        answers, transaction.lanes = await transaction.within(self._traced(enqueue))\n",
                    '        await transaction.fetch("COMMIT")\n        answers, transaction.lanes = await self.write(enqueue)\n',
                ),
            )
        ],
        commands=_COMMANDS,
    ),
)
