"""One job's rows and events: each kind of disagreement is found by itself."""

from typing import Any

from hanbeon.domain.audit.case import (
    AttemptFacts,
    Case,
    DependencyFacts,
    JobFacts,
    audit_case,
    compare,
    pack_job,
    unpack_jobs,
)
from hanbeon.domain.audit.findings import Code, FindingCode, Severity
from hanbeon.domain.audit.history import Bounds
from hanbeon.domain.audit.moves import REASON_NUMBERS, STATE_NUMBERS, Trace
from hanbeon.domain.lifecycle import AttemptStatus, State

JOB = "00000000-0000-0000-0000-00000000000a"
WHOLE = Bounds(now=1_000_000_000, oldest_at=0, first_id=1, last_id=100)
SUCCEEDED = DependencyFacts(dependency=7, id="d", state=State.SUCCEEDED, finished_at=5)
FAILED = DependencyFacts(dependency=8, id="f", state=State.FAILED, finished_at=5)


def ran(attempt: int, start: int, end: int) -> AttemptFacts:
    return AttemptFacts(attempt=attempt, status=AttemptStatus.COMPLETED, started_at=start, ended_at=end)


def found(
    *attempts: AttemptFacts,
    state: State = State.SUCCEEDED,
    dependencies: tuple[DependencyFacts, ...] = (),
    claims: list[int] | None = None,
    ends: list[int] | None = None,
    **given: Any,
) -> list[tuple[FindingCode, str]]:
    """Audit a job that is consistent except for the given fields."""
    numbers = [attempt.attempt for attempt in attempts]
    running = state is State.RUNNING
    fence = given.get("fence", max(numbers, default=0) + running)
    values: dict[str, Any] = {
        "seq": 1,
        "id": JOB,
        "queue": "q",
        "lane": 1,
        "unmet": 0,
        "blocked": given.get("unmet", 0) > 0,
        "created_at": 1,
        "run_at": WHOLE.now,
        "started_at": 100 if running else None,
        "locked_until": WHOLE.now if running else None,
    }
    trace = Trace(STATE_NUMBERS[state], created=True, first_at=1)
    trace.claims = [*numbers, fence][: len(numbers) + running] if claims is None else claims
    trace.ends = numbers if ends is None else ends
    trace.reasons = [REASON_NUMBERS["succeeded"]] * len(trace.ends)
    job = JobFacts(**(values | given | {"state": state, "fence": fence}))
    case = Case(job=job, attempts=attempts, dependencies=dependencies)
    (record,) = unpack_jobs(pack_job(case, 1))
    findings = [*audit_case(case, WHOLE.now), *compare(record, "q", trace, WHOLE)]
    return [(finding.code, finding.message) for finding in findings]


def test_a_job_that_ran_or_runs_is_fine() -> None:
    assert found(ran(1, 10, 20), ran(2, 20, 30)) == []
    assert found(ran(1, 10, 20), state=State.RUNNING) == []
    assert found(state=State.READY) == []


def test_a_fence_may_be_ahead_of_the_attempts_but_never_behind() -> None:
    assert found(ran(1, 10, 20), fence=3) == []
    assert [code for code, _ in found(ran(3, 10, 20), fence=2)] == [Code.DOUBLED_CLAIM]


def test_every_claim_has_its_attempt() -> None:
    ((code, message),) = found(claims=[1], ends=[])
    assert (code, message) == (Code.MISSING_ATTEMPT, "attempt 1 was claimed, but neither runs nor has a row")


def test_every_end_has_its_attempt() -> None:
    ((code, message),) = found(claims=[], ends=[1])
    assert (code, message) == (Code.MISSING_ATTEMPT, "attempt 1 ended, but has no row")


def test_every_attempt_has_its_claim_and_its_end() -> None:
    ((_, message),) = found(ran(1, 10, 20), claims=[])
    assert "claimed" in message
    ((_, message),) = found(ran(1, 10, 20), ends=[])
    assert "ended" in message
    ((_, message),) = found(state=State.RUNNING, claims=[])
    assert "runs" in message


def test_an_unfinished_job_counts_exactly_what_it_waits_for() -> None:
    both = (SUCCEEDED, FAILED)
    assert found(state=State.PENDING, dependencies=both, unmet=1) == []
    for unmet in (0, 2):
        ((code, message),) = found(state=State.PENDING, dependencies=both, unmet=unmet)
        assert (code, f"for {unmet} jobs, but 1" in message) == (Code.BROKEN_DEPENDENCY, True)


def test_a_job_is_blocked_exactly_while_it_waits_for_others() -> None:
    for unmet, dependencies in ((1, (FAILED,)), (0, (SUCCEEDED,))):
        ((code, message),) = found(state=State.PENDING, dependencies=dependencies, unmet=unmet, blocked=not unmet)
        assert (code, f"for {unmet} jobs, but is" in message) == (Code.BROKEN_DEPENDENCY, True)


def test_unmet_may_be_too_high_until_the_recount() -> None:
    both = (SUCCEEDED, FAILED)
    assert found(state=State.PENDING, dependencies=both, unmet=2, recount=True) == []
    ((code, _),) = found(state=State.PENDING, dependencies=both, unmet=0, recount=True)
    assert code is Code.BROKEN_DEPENDENCY
    ((code, _),) = found(state=State.PENDING, dependencies=(SUCCEEDED,), unmet=1, recount=True, run_at=0)
    assert code is Code.STUCK_JOB


def test_a_finished_job_may_have_waited_for_jobs_that_are_pruned() -> None:
    assert found(state=State.CANCELLED, dependencies=(), unmet=1) == []
    assert [code for code, _ in found(state=State.CANCELLED, dependencies=(FAILED,), unmet=0)] == [
        Code.BROKEN_DEPENDENCY
    ]


def test_the_first_start_counts_not_the_last() -> None:
    assert found(ran(1, 5, 6), ran(2, 7, 8), dependencies=(SUCCEEDED,)) == []
    ((code, message),) = found(ran(1, 4, 5), ran(2, 7, 8), dependencies=(SUCCEEDED,))
    assert (code, "before job d" in message) == (Code.BROKEN_DEPENDENCY, True)
    assert [code for code, _ in found(state=State.RUNNING, dependencies=(SUCCEEDED,), started_at=4)] == [
        Code.BROKEN_DEPENDENCY
    ]


def test_a_job_never_starts_behind_one_that_has_not_succeeded() -> None:
    ((code, message),) = found(state=State.RUNNING, dependencies=(FAILED,), unmet=1)
    assert (code, "job f" in message) == (Code.BROKEN_DEPENDENCY, True)


def test_only_what_waits_for_nothing_can_be_stuck() -> None:
    for state, unmet, stuck in ((State.PENDING, 0, True), (State.PENDING, 1, False), (State.READY, 0, False)):
        waits_for = (FAILED,) if unmet else ()
        codes = [code for code, _ in found(state=state, unmet=unmet, dependencies=waits_for, run_at=0)]
        assert codes == [Code.STUCK_JOB] * stuck
    job = JobFacts(
        seq=1,
        id=JOB,
        queue="q",
        lane=1,
        state=State.RUNNING,
        unmet=0,
        fence=1,
        created_at=1,
        run_at=1,
        started_at=1,
        locked_until=WHOLE.now - 60_000_001,
    )
    (finding,) = audit_case(Case(job=job), WHOLE.now)
    assert (finding.code, finding.severity) == (Code.STUCK_JOB, Severity.WARNING)
