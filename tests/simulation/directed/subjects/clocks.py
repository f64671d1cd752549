"""Clocks that are set, and machines that sleep: what the rules of the simulation make of them."""

from __future__ import annotations

from hanbeon.testing.simulation import Fault, FaultKind
from tests.simulation.directed.case import LEASE, Case, job, jobs, on_both
from tests.simulation.directed.rules import states_are

CASES = (
    Case(
        "The clock is ahead by more than jobs may take when one is put off, and is set back",
        [jobs(1.0, job(delay=20.0))],
        [],
        [Fault(at=0.5, kind=FaultKind.STEP, seconds=900.0), Fault(at=2.0, kind=FaultKind.STEP, seconds=-900.0)],
        oracles=[states_are(plain="succeeded")],
        until=3.0,
        variations=1,
        is_about_rules=True,
    ),
    Case(
        "The machine sleeps for longer than a lease, in the middle of bodies that do not stop at once",
        [jobs(0.4, *[job("stubborn", seconds=8.0) for _ in range(6)])],
        [],
        on_both(Fault(at=2.5, kind=FaultKind.SUSPEND, seconds=LEASE * 1.4))[:1],
        variations=4,
        is_about_rules=True,
    ),
)
