"""The machine: power that fails in the middle of commits, and a disk that is full."""

from __future__ import annotations

from collections.abc import Iterator

from hanbeon.testing.simulation import CLIENT, Evidence, Fault, FaultKind, Moment
from tests.simulation.directed.case import Case, job, jobs, mutant
from tests.simulation.directed.rules import ends_by, states_are

_PRAGMAS = '"synchronous = FULL", "foreign_keys = ON"'


def nothing_of_before_is_written(evidence: Evidence) -> Iterator[str]:
    """A process that had the database open before a restore moves no job after it."""
    opened = {entry.node: entry.at for entry in evidence.world.trace if entry.text.startswith("log worker_started")}
    for renewed in evidence.world.renewals:
        for move in evidence.moves:
            if move.node in opened and opened[move.node] < renewed < evidence.world.seconds_of(move.at):
                yield f"job {move.seq} moved {move.old} -> {move.new} by {move.node}, which is of before the restore"


def _power(at: float, node: int, moment: Moment = Moment.NOW, skip: int = 0) -> Fault:
    return Fault(at=at, kind=FaultKind.POWER, node=node, moment=moment, skip=skip, down=0.3)


CASES = (
    Case(
        "The power fails again and again, between commits and in the middle of them",
        [jobs(0.4 + 0.6 * number, job(seconds=0.5), job("ledger")) for number in range(24)],
        [
            mutant(
                "commits are synced at checkpoints only",
                ("store/database/sqlite_connection.py", _PRAGMAS, _PRAGMAS.replace("FULL", "NORMAL")),
            ),
            mutant(
                "nothing is synced",
                ("store/database/sqlite_connection.py", _PRAGMAS, _PRAGMAS.replace("FULL", "OFF")),
            ),
        ],
        [
            *(_power(2.05 + 2.1 * number, CLIENT, Moment.AFTER_COMMIT, skip=number) for number in range(3)),
            *(_power(8.3 + 1.4 * number, number % 2, Moment.SYNC, skip=number) for number in range(4)),
            _power(14.6, 0),
        ],
        oracles=[states_are(plain="succeeded", ledger="succeeded")],
        variations=6,
        until=16.0,
    ),
    Case(
        "The disk is full while jobs arrive and end",
        [jobs(0.4 + 0.4 * number, job(seconds=0.5), job("ledger"), job("parent", count=2)) for number in range(12)],
        [
            mutant(
                "a full disk is an error of the program",
                (
                    "store/database/sqlite_errors.py",
                    "    except (apsw.FullError, apsw.IOError, apsw.NoMemError,",
                    "    except (apsw.IOError, apsw.NoMemError,",
                ),
            ),
        ],
        [
            Fault(at=1.0, kind=FaultKind.FILL, seconds=2.0),
            Fault(at=4.0, kind=FaultKind.FILL, seconds=5.0),
        ],
        oracles=[states_are(plain="succeeded", ledger="succeeded", parent="succeeded")],
        variations=3,
    ),
    Case(
        "The database is restored from a backup, and what was undone happens again",
        [jobs(0.4 + 0.5 * number, job(seconds=0.5), job("ledger", seconds=1.0)) for number in range(20)],
        [
            mutant(
                "what ran at the time of the backup keeps its lease",
                ("store/operations/incarnation.py", 'await tx.fetch("expire_leases")', "[]"),
            ),
            mutant(
                "a restore leaves the database as it is",
                (
                    "store/database/sqlite_backup.py",
                    "        os.replace(part, target)\n        _sync(target.parent)\n",
                    "        _sync(target.parent)\n",
                ),
            ),
        ],
        [Fault(at=7.3, kind=FaultKind.RESTORE, seconds=3.0)],
        settings={"lease": 30.0},
        oracles=[states_are(plain="succeeded", ledger="succeeded"), ends_by(25.0)],
        variations=3,
    ),
    Case(
        "The database begins a new incarnation while processes have it open",
        [jobs(0.4, *[job("ledger", seconds=4.0) for _ in range(6)]), jobs(9.0, job())],
        [
            mutant(
                "processes of before a restore go on writing",
                (
                    "store/database/sqlite_connection.py",
                    "        if self.incarnation is not None and self.incarnation != self.read_incarnation():\n",
                    "        if False:\n",
                ),
            ),
        ],
        [Fault(at=2.5, kind=FaultKind.RENEW)],
        oracles=[states_are(plain="succeeded", ledger="succeeded"), nothing_of_before_is_written],
        variations=3,
    ),
)
