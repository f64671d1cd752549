"""Work that really stops: whatever a body does and starts, nothing of it is left when its end is reported."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from typing import Any

import psutil
import pytest

from hanbeon.domain.outcome import Raised, Returned
from hanbeon.executors.executor import StopCause
from hanbeon.tasks.task import Task
from tests.executors import bodies, slow_module
from tests.executors.workbench import GRACE, Bench, alive, numbers, until, watched
from tests.storm.journal import Journal
from tests.storm.sizes import SLACK

_LONG = {"lease": 1_200.0}
PATIENT_SECONDS = 60.0
KINDS = [(kind, clean) for kind in bodies.LEAVES for clean in (False, True)]


@pytest.fixture
async def patient() -> AsyncIterator[Bench]:
    """A bench with a grace so long that a test which waits for its end fails."""
    bench = Bench(lease=1_200, stop_grace=300)
    yield bench
    await bench.executor.close()


@pytest.mark.parametrize(("kind", "clean"), KINDS)
async def test_kills_a_body_that_ignores_sigterm_and_its_descendants(
    bench: Bench, journal: Journal, kind: str, clean: bool
) -> None:
    started = bench.start(bodies.stubborn, journal=str(journal), kind=kind, clean=clean)
    processes = await numbers(journal)
    asked_at = time.monotonic()
    started.stop(StopCause.DEADLINE)
    ended_at, seen = await watched(started, processes)
    assert GRACE <= ended_at - asked_at < GRACE + SLACK
    assert seen == [], "its end was reported before all of it was dead"
    assert bench.work() == []


@pytest.mark.parametrize(
    "task",
    [bodies.busy, bodies.backtrack, bodies.asleep, bodies.restoring, bodies.frozen],
    ids=lambda task: task.name,
)
async def test_ends_a_body_that_asked_for_nothing_at_once(
    patient: Bench, journal: Journal, task: Task[..., Any]
) -> None:
    await patient.run(bodies.facts, backend=_LONG)  # It looked, in the same process: that is over with its job.
    started = patient.start(task, backend=_LONG, journal=str(journal))
    processes = await numbers(journal, 1)
    if task is bodies.frozen:
        stopped = psutil.Process(processes[0])
        await until("it is frozen", lambda: stopped.status() == psutil.STATUS_STOPPED)
    started.stop(StopCause.CANCELLED)
    _, seen = await watched(started, processes, PATIENT_SECONDS)
    assert seen == []
    assert await started.outcome() is None
    assert patient.work() == []


async def test_a_thread_of_a_body_can_look_for_it(patient: Bench, journal: Journal) -> None:
    started = patient.start(bodies.cooperative_in_a_thread, backend=_LONG, journal=str(journal))
    await until("it has looked", lambda: len(journal.lines("began")) > 1)
    started.stop(StopCause.SHUTDOWN)
    assert await started.within(PATIENT_SECONDS) == Returned('"in peace"')


async def test_a_handler_of_the_body_decides(patient: Bench, journal: Journal) -> None:
    started = patient.start(bodies.tidying, backend=_LONG, journal=str(journal))
    await numbers(journal, 1)
    started.stop(StopCause.DEADLINE)
    assert isinstance(await started.within(PATIENT_SECONDS), Raised)
    assert journal.lines("tidied")
    assert patient.work() == [], "nor does its process wait for the end of the grace"


async def test_a_child_of_an_ended_body_has_the_grace(patient: Bench, journal: Journal) -> None:
    started = patient.start(bodies.parent, backend=_LONG, journal=str(journal))
    processes = await numbers(journal)
    started.stop(StopCause.DEADLINE)
    _, seen = await watched(started, processes, PATIENT_SECONDS)
    assert seen == []
    assert journal.lines("tidied")


async def test_a_result_on_its_way_is_kept(patient: Bench, journal: Journal) -> None:
    started = patient.start(bodies.reporting, backend=_LONG, journal=str(journal))
    await numbers(journal, 1)
    started.stop(StopCause.SHUTDOWN)
    assert await started.within(PATIENT_SECONDS) == Returned('"kept"')
    assert await patient.run(bodies.add, backend=_LONG, a=1) == Returned("1")


async def test_a_stop_is_never_for_the_next_job(patient: Bench) -> None:
    """However late it comes: before, while and after the result is sent."""
    for steps in (0, 4, 16):
        started = patient.start(bodies.add, backend=_LONG, a=1)
        for _ in range(steps):
            await asyncio.sleep(0)
        started.stop(StopCause.CANCELLED)
        following = patient.start(bodies.add, backend=_LONG, a=2)
        assert await started.within(PATIENT_SECONDS) in (None, Returned("1"))
        assert await following.within(PATIENT_SECONDS) == Returned("2")


async def test_printed_lines_outlive_an_ended_body(
    journal: Journal, capfd: pytest.CaptureFixture[str], patient: Bench
) -> None:
    started = patient.start(bodies.printing, backend=_LONG, journal=str(journal))
    await numbers(journal, 1)
    started.stop(StopCause.DEADLINE)
    assert await started.within(PATIENT_SECONDS) is None
    assert "printed before the stop" in capfd.readouterr().out


async def test_a_sigterm_from_elsewhere_is_a_lost_session(patient: Bench, journal: Journal) -> None:
    started = patient.start(bodies.asleep, backend=_LONG, journal=str(journal))
    (pid,) = await numbers(journal, 1)
    os.kill(pid, signal.SIGTERM)
    outcome = await started.within(PATIENT_SECONDS)
    assert outcome == Raised("the worker process was killed by SIGTERM", "session_error")


async def test_stop_before_the_body_began_needs_no_grace(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANBEON_TEST_JOURNAL", str(journal))
    bench = Bench(lease=240, stop_grace=60)
    started = bench.start(slow_module.never, backend={"lease": 240.0}, journal=str(journal))
    await numbers(journal, 1)
    started.stop(StopCause.CANCELLED)
    assert await started.within() is None
    await bench.executor.close()


async def test_a_supervisor_that_is_stuck_is_replaced(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.executors.supervisor_client._START_SECONDS", 3.0)
    await bench.run(bodies.add, a=1)
    bench.supervisor.suspend()
    first, second = bench.start(bodies.add, a=1), bench.start(bodies.add, a=2)
    outcomes = [await first.within(), await second.within()]
    assert outcomes[0] == Returned("1"), "the one that was warm needs no supervisor"
    assert outcomes[1] == Raised("the worker process was killed together with its supervisor", "session_error")
    monkeypatch.setattr("hanbeon.executors.supervisor_client._START_SECONDS", 30.0)
    assert await bench.run(bodies.add, a=3) == Returned("3")


@pytest.mark.parametrize("kind", bodies.LEAVES)
async def test_processes_left_by_a_body_die_before_its_end(bench: Bench, journal: Journal, kind: str) -> None:
    assert await bench.run(bodies.leaves_behind, journal=str(journal), kind=kind) == Returned('"returned"')
    assert not any(alive(pid) for pid in await numbers(journal, 1))
    assert bench.work() == []


async def test_a_crash_takes_its_children_along(bench: Bench, journal: Journal) -> None:
    started = bench.start(bodies.stubborn, journal=str(journal), kind="daemon", clean=True)
    processes = await numbers(journal)
    leader = next(int(words[1]) for words in journal.lines("began"))
    os.kill(leader, signal.SIGKILL)
    assert await started.within() == Raised("the worker process was killed by SIGKILL", "session_error")
    assert not any(alive(pid) for pid in processes)


async def test_a_killed_session_supervisor_leaves_nothing(bench: Bench, journal: Journal) -> None:
    """Then its orphans are the supervisor's, and it is the supervisor that says when they are dead."""
    started = bench.start(bodies.stubborn, journal=str(journal), kind="daemon", clean=True)
    processes = await numbers(journal)
    bench.session_supervisors[0].kill()
    outcome = await started.within()
    assert outcome == Raised("the worker process was killed together with its supervisor", "session_error")
    assert not any(alive(pid) for pid in processes)
    assert await bench.run(bodies.add, a=1) == Returned("1")


async def test_a_killed_supervisor_leaves_nothing(bench: Bench, journal: Journal) -> None:
    started = bench.start(bodies.stubborn, journal=str(journal), kind="daemon", clean=True)
    processes = await numbers(journal)
    first = bench.supervisor
    first.kill()
    outcome = await started.within()
    assert outcome == Raised("the worker process was killed by SIGKILL", "session_error")
    assert not any(alive(pid) for pid in processes)
    assert await bench.run(bodies.add, a=1) == Returned("1")
    assert bench.supervisor.pid != first.pid


async def test_engine_sweeps_when_both_supervisors_are_killed(bench: Bench, journal: Journal) -> None:
    """By session and by the marker in the environment: nobody is left who could know its descendants."""
    started = bench.start(bodies.stubborn, journal=str(journal), kind="daemon")
    processes = await numbers(journal)
    supervisor, session_supervisors = bench.supervisor, bench.session_supervisors
    supervisor.suspend()
    for process in (*session_supervisors, supervisor):
        process.kill()
    outcome = await started.within()
    assert outcome == Raised("the worker process was killed together with its supervisor", "session_error")
    assert not any(alive(pid) for pid in processes)


async def test_signals_for_everybody_do_not_reach_the_supervisor(bench: Bench) -> None:
    await bench.run(bodies.add, a=1)
    for process in (bench.supervisor, *bench.session_supervisors):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            process.send_signal(number)
    assert await bench.run(bodies.add, a=2) == Returned("2")


async def test_an_idle_process_that_is_killed_is_replaced(bench: Bench) -> None:
    await bench.run(bodies.add, a=1)
    (pid,) = bench.executor.processes
    os.kill(pid, signal.SIGKILL)
    await until("it is gone", lambda: not bench.executor.processes)
    assert await bench.run(bodies.add, a=2) == Returned("2")


async def test_supervisor_stops_work_without_renewed_lease(bench: Bench, journal: Journal) -> None:
    """The event loop stands still: nobody here could stop it, and nobody says that it may go on."""
    await bench.run(bodies.add, a=1)  # So that the lease is not over before the body has begun.
    started = bench.start(bodies.stubborn, journal=str(journal), backend={"lease": 12.0})
    processes = await numbers(journal)
    assert bench.attempt is not None
    ends_at = bench.attempt.lease_until
    while any(alive(pid) for pid in processes):
        time.sleep(0.01)  # noqa: ASYNC251 - on purpose
        assert time.clock_gettime(time.CLOCK_BOOTTIME) < ends_at, "it runs on after its lease"
    outcome = await started.within()
    assert isinstance(outcome, Raised)
    assert outcome.failure_type == "session_error"
    assert "this worker was unresponsive for so long that its lease was in danger" in outcome.message


async def test_closing_kills_what_runs(journal: Journal) -> None:
    bench = Bench()
    started = bench.start(bodies.stubborn, journal=str(journal), kind="session")
    processes = await numbers(journal)
    supervisor = bench.supervisor
    await bench.executor.close()
    assert not any(alive(pid) for pid in processes)
    assert not supervisor.is_running()
    assert isinstance(await started.within(), Raised)
