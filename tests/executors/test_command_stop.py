"""Commands really stop: whatever they do and start, nothing of it is left when their end is reported."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from hanbeon.domain.outcome import Raised, Returned
from hanbeon.executors.executor import StopCause
from hanbeon.tasks.command import command_task
from hanbeon.tasks.task import Task
from tests.executors import bodies
from tests.executors.workbench import GRACE, CommandBench, alive, numbers, until, watched
from tests.storm.journal import Journal
from tests.storm.sizes import SLACK

ROOT = str(Path(__file__).parents[2])
KINDS = [(kind, clean) for kind in bodies.LEAVES for clean in (False, True)]


def body(task: Task[..., Any], **arguments: Any) -> Task[..., Any]:
    """The body of a process task, as a command."""
    program = f"from tests.executors import bodies; bodies.{task.name}.function(**{arguments!r})"
    return command_task("work", [sys.executable, "-c", program], {"cwd": ROOT})


def shell(script: str) -> Task[..., Any]:
    return command_task("work", ["sh", "-c", script, "sh", "{args.journal}"], {})


@pytest.mark.parametrize(("kind", "clean"), KINDS)
async def test_kills_a_command_that_ignores_sigterm_and_descendants(
    commands: CommandBench, journal: Journal, kind: str, clean: bool
) -> None:
    started = commands.start(body(bodies.stubborn, journal=str(journal), kind=kind, clean=clean))
    processes = await numbers(journal)
    asked_at = time.monotonic()
    started.stop(StopCause.DEADLINE)
    ended_at, seen = await watched(started, processes)
    assert GRACE <= ended_at - asked_at < GRACE + SLACK
    assert seen == [], "its end was reported before all of it was dead"
    assert commands.work() == []


@pytest.mark.parametrize("task", [bodies.busy, bodies.asleep, bodies.frozen], ids=lambda task: task.name)
async def test_kills_work_that_no_handler_interrupts(
    commands: CommandBench, journal: Journal, task: Task[..., Any]
) -> None:
    started = commands.start(body(task, journal=str(journal)))
    processes = await numbers(journal, 1)
    if task is bodies.frozen:
        stopped = psutil.Process(processes[0])
        await until("it is frozen", lambda: stopped.status() == psutil.STATUS_STOPPED)
    started.stop(StopCause.CANCELLED)
    _, seen = await watched(started, processes)
    assert seen == []
    assert commands.work() == []


async def test_a_pipeline_dies_as_a_whole(commands: CommandBench, journal: Journal) -> None:
    script = """trap '' TERM; echo "began $$" >> "$1"; yes | (trap '' TERM; cat; sleep 3600) | (sleep 3600 | cat)"""
    started = commands.start(shell(script), journal=str(journal))
    await numbers(journal, 1)
    everybody = await until("the pipeline runs", lambda: found if len(found := commands.work()) >= 6 else None)
    started.stop(StopCause.CANCELLED)
    _, seen = await watched(started, [each.pid for each in everybody])
    assert seen == []
    assert commands.work() == []


async def test_a_command_that_ends_at_sigterm_waits_for_no_grace(journal: Journal) -> None:
    commands = CommandBench(lease=240, stop_grace=60)
    started = commands.start(
        shell("""trap 'echo bye; exit 0' TERM; echo "began $$" >> "$1"; while :; do sleep 0.1; done"""),
        backend={"lease": 240.0},
        journal=str(journal),
    )
    await numbers(journal, 1)
    started.stop(StopCause.SHUTDOWN)
    assert await started.within() is None, "it was interrupted: that is no success"
    assert commands.printed() == b"bye\n"
    await commands.executor.close()


async def test_body_that_ended_before_its_stop_keeps_its_result(commands: CommandBench) -> None:
    started = commands.start(shell("""echo '{"result": 1}' >&3"""), journal="")
    session = started._work._session  # type: ignore[attr-defined]
    await until("it has ended", lambda: session.leader is not None and not psutil.pid_exists(session.leader))
    started.stop(StopCause.SHUTDOWN)
    assert await started.within() == Returned("1")


@pytest.mark.parametrize("kind", bodies.LEAVES)
async def test_processes_left_by_a_command_die_before_its_end(
    commands: CommandBench, journal: Journal, kind: str
) -> None:
    assert await commands.run(body(bodies.leaves_behind, journal=str(journal), kind=kind)) == Returned()
    assert not any(alive(pid) for pid in await numbers(journal, 1))
    assert commands.work() == []


async def test_a_crash_takes_its_children_along(commands: CommandBench, journal: Journal) -> None:
    started = commands.start(body(bodies.stubborn, journal=str(journal), kind="daemon", clean=True))
    processes = await numbers(journal)
    leader = next(int(words[1]) for words in journal.lines("began"))
    os.kill(leader, signal.SIGKILL)
    assert await started.within() == Raised("the command was killed by SIGKILL", "session_error")
    assert not any(alive(pid) for pid in processes)


async def test_a_killed_session_supervisor_leaves_nothing(commands: CommandBench, journal: Journal) -> None:
    started = commands.start(body(bodies.stubborn, journal=str(journal), kind="daemon", clean=True))
    processes = await numbers(journal)
    commands.session_supervisors[0].kill()
    assert await started.within() == Raised("the command was killed together with its supervisor", "session_error")
    assert not any(alive(pid) for pid in processes)


async def test_supervisor_stops_work_without_renewed_lease(commands: CommandBench, journal: Journal) -> None:
    """The event loop stands still: nobody here could stop it, and nobody says that it may go on."""
    await commands.run(shell("true"), journal="")
    started = commands.start(body(bodies.stubborn, journal=str(journal)), backend={"lease": 12.0})
    processes = await numbers(journal)
    assert commands.attempt is not None
    ends_at = commands.attempt.lease_until
    while any(alive(pid) for pid in processes):
        time.sleep(0.01)  # noqa: ASYNC251 - on purpose
        assert time.clock_gettime(time.CLOCK_BOOTTIME) < ends_at, "it runs on after its lease"
    outcome = await started.within()
    assert isinstance(outcome, Raised)
    assert "this worker was unresponsive for so long that its lease was in danger" in outcome.message


async def test_closing_kills_what_runs(journal: Journal) -> None:
    commands = CommandBench()
    started = commands.start(body(bodies.stubborn, journal=str(journal), kind="session"))
    processes = await numbers(journal)
    supervisor = commands.supervisor
    await commands.executor.close()
    assert not any(alive(pid) for pid in processes)
    assert not supervisor.is_running()
    assert isinstance(await started.within(), Raised)


async def test_two_hundred_at_once(commands: CommandBench) -> None:
    await commands.run(shell("true"), journal="")
    before = psutil.Process().num_fds(), commands.supervisor.num_fds()
    started = [commands.start(shell("sleep 0.2; echo out; echo err >&2"), journal="") for _ in range(200)]
    outcomes = await asyncio.gather(*(each.within(60) for each in started))
    assert outcomes == [Returned()] * 200
    assert commands.work() == []
    await until("the session_supervisors are gone", lambda: not commands.session_supervisors)
    await until("no descriptor is left", lambda: (psutil.Process().num_fds(), commands.supervisor.num_fds()) == before)


@pytest.mark.parametrize("frozen", ["session supervisor", "both"])
async def test_insisting_ends_a_command_that_nobody_supervises(
    commands: CommandBench, journal: Journal, frozen: str
) -> None:
    started = commands.start(body(bodies.stubborn, journal=str(journal)))
    processes = await numbers(journal)
    supervisors = [*commands.session_supervisors, *([commands.supervisor] if frozen == "both" else [])]
    for each in supervisors:
        each.send_signal(signal.SIGSTOP)
    # A process stops when it is next scheduled, and this test insists once only.
    await until("they are frozen", lambda: {each.status() for each in supervisors} == {psutil.STATUS_STOPPED})
    started.stop(StopCause.DEADLINE)
    started.escalate()
    _, seen = await watched(started, processes, 30.0)
    assert seen == []
    assert await commands.run(shell("true"), journal="") == Returned(), "the next one is supervised"
