"""Leases, fences and the recovery of what was lost."""

from __future__ import annotations

from hanbeon.testing.simulation import Fault, FaultKind, Moment
from tests.simulation.directed.case import LEASE, Case, freeze, job, jobs, kill, lose, mutant, on_both
from tests.simulation.directed.rules import attempts_are, nothing_is_lost, superseded_work_stops

_FAST = "store/fast/statements.sqlite.sql"
_BATCH = (
    "WHERE j.seq IN (SELECT value FROM json_each($1)) AND j.fence = $2 AND j.instance = $3 AND j.state = 'running'\n"
)
_EACH = "WHERE j.seq = r.value ->> 0 AND j.fence = $2 AND j.instance = $3 AND j.state = 'running'\n"
_ONE = "WHERE j.seq = CAST(r.key AS integer) AND j.fence = r.value ->> 0 AND j.instance = $3 AND j.state = 'running'\n"
_HELD = "  AND j.stop_requested_at IS NULL AND j.locked_until > {}\n"

CASES = (
    Case(
        "A process freezes in the middle of the transaction that records a success, until its lease has ended",
        [jobs(0.4, *[job(seconds=0.5) for _ in range(2)])],
        [],
        on_both(freeze(0.85, 0, LEASE + 0.7, Moment.STATEMENT, skip=1)),
        variations=4,
        is_about_rules=True,
    ),
    Case(
        "A process freezes between the end of a body and its record, for longer than the lease",
        [jobs(0.4, job(seconds=4.0))],
        [
            mutant(
                "a success is recorded without the fence",
                (_FAST, _BATCH, _BATCH.replace("j.fence = $2 AND j.instance = $3", "$2 = $2 AND $3 = $3")),
                (_FAST, _EACH, _EACH.replace("j.fence = $2 AND j.instance = $3", "$2 = $2 AND $3 = $3")),
                (_FAST, _ONE, _ONE.replace("j.fence = r.value ->> 0 AND j.instance = $3", "$3 = $3")),
            )
        ],
        on_both(freeze(0.5, 0, 5.1, Moment.RECORD)),
        variations=3,
    ),
    Case(
        "A process alone freezes before the record of a success, until its lease has ended and nobody has recovered it",
        [jobs(0.4, job(seconds=1.0))],
        [
            mutant(
                "a success is recorded after the lease has ended",
                (_FAST, _BATCH + _HELD.format("$4"), _BATCH + "  AND j.stop_requested_at IS NULL AND $4 = $4\n"),
                (_FAST, _EACH + _HELD.format("$4"), _EACH + "  AND j.stop_requested_at IS NULL AND $4 = $4\n"),
                (_FAST, _ONE + _HELD.format("n.now"), _ONE + "  AND j.stop_requested_at IS NULL AND n.now = n.now\n"),
                (
                    "store/sql/completions.sql",
                    "AND @hidden(j.state) = 'running' AND j.locked_until > n.now\nORDER",
                    "AND @hidden(j.state) = 'running' AND n.now > 0\nORDER",
                ),
            )
        ],
        [freeze(0.5, 0, LEASE + 0.5, Moment.RECORD)],
        workers=1,
        variations=3,
    ),
    Case(
        "Long work is renewed, and nobody takes it over before its lease ends",
        [jobs(0.4, job(seconds=8.0))],
        [
            mutant(
                "recovery comes 4 s too early",
                (
                    "store/sql/completions.sql",
                    "j.locked_until <= (SELECT hanbeon.now())",
                    "j.locked_until <= (SELECT hanbeon.now() + 4000000)",
                ),
            ),
            mutant(
                "leases are not renewed",
                (
                    "store/sql/leases.sql",
                    "THEN j.locked_until ELSE n.now + $2 END",
                    "THEN j.locked_until ELSE j.locked_until + $2 * 0 END",
                ),
            ),
        ],
        oracles=[nothing_is_lost],
    ),
    Case(
        "A process is cut off from the database for longer than the lease, in the middle of a body",
        [jobs(0.4, job(seconds=8.0))],
        [
            mutant(
                "the guard does not stop work whose lease has ended",
                ("engine/running_attempts.py", "if now >= attempt.give_up_at:", "if False:"),
            )
        ],
        on_both(Fault(at=1.5, kind=FaultKind.REFUSE, seconds=7.5))[:1],
        variations=4,
    ),
    Case(
        "The wall clock is set forward: leases end early, and superseded work stops nevertheless",
        [jobs(0.4, job(seconds=14.0))],
        [
            mutant(
                "leases are renewed without the fence",
                (
                    "store/sql/leases.sql",
                    "SELECT r.seq, coalesce(j.state = 'running' AND j.fence = r.fence AND j.instance = coalesce(r.instance, j.instance)\n",
                    "SELECT r.seq, coalesce(j.state = 'running'\n",
                ),
                (
                    "store/sql/leases.sql",
                    "WHERE j.seq = r.seq AND j.fence = r.fence AND j.instance = coalesce(r.instance, j.instance)\n",
                    "WHERE j.seq = r.seq\n",
                ),
            )
        ],
        [Fault(at=2.0, kind=FaultKind.STEP, node=0, seconds=20.0)],
        oracles=[superseded_work_stops],
        until=18.0,
        variations=4,
    ),
    Case(
        "The answer to the COMMIT of a claim is lost",
        [jobs(0.4, job(seconds=0.5))],
        [
            mutant(
                "claims without an answer are forgotten",
                (
                    "engine/claim.py",
                    "        self._tasks.setdefault(instance, set()).update(tasks)\n",
                    "        return\n",
                ),
            )
        ],
        on_both(lose(0.395, 0, Moment.AFTER_COMMIT)),
        oracles=[nothing_is_lost],
        variations=4,
    ),
    Case(
        "A process is killed in the middle of a body, and another one takes over",
        [jobs(0.4, job(seconds=2.0))],
        [
            mutant(
                "a claim keeps the fence",
                (
                    "store/fast/statements.sqlite.sql",
                    "SET state = 'running', fence = j.fence + 1,",
                    "SET state = 'running', fence = max(j.fence, 1),",
                ),
            ),
            mutant(
                "nobody recovers what was lost",
                (
                    "store/sql/completions.sql",
                    "WHERE j.state = 'running' AND j.lane = hop.lane AND j.locked_until <=",
                    "WHERE j.state = 'running' AND j.fence < 0 AND j.lane = hop.lane AND j.locked_until <=",
                ),
            ),
        ],
        on_both(kill(1.0, 0, down=6.0)),
    ),
    Case(
        "A process is killed with a job that must run once at most",
        [jobs(0.4, job("once", seconds=2.0))],
        [
            mutant(
                'a lost job with on_lost="fail" is retried',
                (
                    "domain/retry.py",
                    "last_failure not in NOT_THE_WORK and self.on_lost is OnLost.RETRY",
                    "last_failure not in NOT_THE_WORK",
                ),
            )
        ],
        on_both(kill(1.0, 0)),
        oracles=[attempts_are("lost")],
    ),
)
