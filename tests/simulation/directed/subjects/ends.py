"""Ends of attempts: successes, failures, retries, deadlines, and what is created or written with them."""

from __future__ import annotations

from hanbeon.testing.simulation import Fault, FaultKind, Moment
from tests.simulation.directed.case import Case, freeze, job, jobs, kill, lose, mutant, on_both
from tests.simulation.directed.rules import (
    attempts_are,
    bodies_last_at_most,
    ends_by,
    nothing_is_lost,
    states_are,
    waits_between,
)

CASES = (
    Case(
        "Jobs succeed and fail in batches, and their events and counts are those of their rows",
        [jobs(0.4, *[job(count=number) for number in range(4)], job("flaky", count=1), job("flaky", count=2))],
        [
            mutant(
                "an end has no event",
                (
                    "store/operations/complete.py",
                    "    for row in rows:\n        emit_end(tx,",
                    "    for row in rows[1:]:\n        emit_end(tx,",
                ),
            ),
            mutant(
                "the end of a batch of successes has no event",
                ("store/fast/sqlite.py", "    await _write_groups(tx, now, len(seqs), successes.body)\n", ""),
            ),
        ],
    ),
    Case(
        "The COMMIT of a success is lost before it takes effect",
        [jobs(0.4, job(seconds=0.5))],
        [
            mutant(
                "a lost COMMIT is taken for done",
                (
                    "engine/completion.py",
                    "            return _fail(self._each(batch), error)  # Each",
                    "            return self._owner.succeeded(batch, 0)  # Each",
                ),
            )
        ],
        on_both(lose(0.88, 0, Moment.BEFORE_COMMIT)),
        oracles=[nothing_is_lost],
        variations=3,
    ),
    Case(
        "A process is killed just after the COMMIT of a success that enqueues jobs",
        [jobs(0.4, job("parent", count=2, seconds=2.0))],
        [
            mutant(
                "the jobs that an attempt enqueued are created after its end",
                (
                    "store/store.py",
                    "            await enqueues.enqueue(tx, lanes, children)\n        return completed[0]",
                    "            import asyncio\n            asyncio.get_event_loop().create_task(self.enqueue(children))\n        return completed[0]",
                ),
            ),
            mutant(
                "the jobs that an attempt enqueued are forgotten",
                (
                    "store/store.py",
                    "            await enqueues.enqueue(tx, lanes, children)\n        return completed[0]",
                    "            pass\n        return completed[0]",
                ),
            ),
        ],
        on_both(kill(0.88, 0, Moment.AFTER_COMMIT)),
        variations=3,
    ),
    Case(
        "A process freezes with writes of a body that are not committed, until its lease has ended",
        [jobs(0.4, job("ledger", seconds=0.5))],
        [
            mutant(
                "own writes are committed although the success was refused",
                (
                    "store/store.py",
                    "            raise NotSucceeded\n        if children:",
                    "            return completed[0] if completed else None\n        if children:",
                ),
            )
        ],
        on_both(freeze(0.5, 0, 3.4, Moment.RECORD)),
        variations=3,
    ),
    Case(
        "A body outlasts its deadline",
        [jobs(0.4, job("slow", seconds=9.0))],
        [
            mutant(
                "deadlines stop nothing",
                (
                    "engine/running_attempts.py",
                    "elif attempt.deadline is not None and now >= attempt.deadline and attempt.stoppable:",
                    "elif False:",
                ),
            )
        ],
        oracles=[bodies_last_at_most("slow", 3.5), attempts_are("timeout", "timeout")],
    ),
    Case(
        "A body fails more often than it may be retried",
        [jobs(0.4, job("flaky", count=9))],
        [
            mutant(
                "retries are not counted",
                ("domain/outcome.py", "            job.retry_count + 1,\n", "            job.retry_count,\n"),
            ),
            mutant(
                "retries do not wait",
                ("domain/retry.py", "        delay = min(delay, MAX_DELAY_US)\n", "        delay = 0\n"),
            ),
        ],
        oracles=[states_are(flaky="failed"), attempts_are("failed", "failed", "failed", "failed"), waits_between(1.0)],
    ),
    Case(
        "A worker is stopped in the middle of a body",
        [jobs(0.4, job(seconds=3.0))],
        [
            mutant(
                "work that is handed back counts as lost",
                (
                    "domain/outcome.py",
                    "            return AttemptEnd(Reason.RELEASED, AttemptStatus.RELEASED, job.retry_count)\n",
                    "            return _failed(job, AttemptStatus.LOST, FailureType.LOST, LOST_MESSAGE, False, random_share)\n",
                ),
            ),
            mutant(
                "a worker that stops hands nothing back",
                ("engine/running_attempts.py", "    attempts.stop_all(StopCause.SHUTDOWN)\n    loop", "    loop"),
            ),
        ],
        [Fault(at=1.0, kind=FaultKind.LEAVE, node=0), Fault(at=2.5, kind=FaultKind.LEAVE, node=1)],
        oracles=[nothing_is_lost, ends_by(8.0)],
        variations=3,
    ),
    Case(
        "A worker is stopped long before the end of a body",
        [jobs(0.4, job(seconds=100.0))],
        [
            mutant(
                "a worker that stops waits for its work for as long as that takes",
                (
                    "engine/worker.py",
                    "self.attempts, self._settings.shutdown_grace, self._stop_now",
                    "self.attempts, 1e6, self._stop_now",
                ),
            )
        ],
        [Fault(at=1.0, kind=FaultKind.LEAVE, node=0), Fault(at=2.5, kind=FaultKind.LEAVE, node=1)],
        oracles=[nothing_is_lost],
    ),
    Case(
        "A task puts itself off",
        [jobs(0.4, job("postpone", seconds=3.0, count=2))],
        [
            mutant(
                "postponed jobs run again at once",
                ("domain/outcome.py", "                delay_us=delay_us,\n", "                delay_us=0,\n"),
            )
        ],
        oracles=[waits_between(2.9), attempts_are("released", "released", "completed")],
        until=14.0,
    ),
)
