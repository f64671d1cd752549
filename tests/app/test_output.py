"""Output of Python tasks in the logs of their jobs: each job has its own, also of jobs that run together."""

import asyncio
import logging
import sys
import threading

import pytest

from hanbeon import App
from hanbeon.domain.log import LogEntry, LogLine, LogStream
from hanbeon.job import Job
from hanbeon.testing import TestKit
from tests.executors import bodies

log = logging.getLogger("shop.orders")


async def lines(job: Job[object]) -> list[tuple[LogStream, str]]:
    return [(entry.stream, entry.text) for entry in (await job.log()).entries if isinstance(entry, LogLine)]


def speak(name: str) -> None:
    print("printed by", name)
    print("complained by", name, file=sys.stderr)
    log.warning("logged by %s", name)
    log.debug("not enabled")
    try:
        raise ValueError(name)
    except ValueError:
        log.exception("failed in %s", name)


def spoken(name: str) -> list[tuple[LogStream, str]]:
    return [
        (LogStream.STDOUT, f"printed by {name}"),
        (LogStream.STDERR, f"complained by {name}"),
        (LogStream.TASK, f"WARNING shop.orders: logged by {name}"),
        (LogStream.TASK, f"ERROR shop.orders: failed in {name}"),
    ]


@pytest.mark.parametrize("executor", ["async", "thread"])
async def test_concurrent_jobs_do_not_mix(
    kit: TestKit, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, executor: str
) -> None:
    log.setLevel(logging.INFO)
    barrier, gate = threading.Barrier(2), asyncio.Event()
    left = [2]

    def plain(name: str) -> None:
        barrier.wait(30)
        speak(name)
        barrier.wait(30)
        print("end of", name)

    async def waiting(name: str) -> None:
        left[0] -= 1
        if not left[0]:
            gate.set()
        await gate.wait()
        speak(name)
        await asyncio.sleep(0)
        await asyncio.to_thread(print, "end of", name)

    task = kit.app.task(executor=executor, name="say")(waiting if executor == "async" else plain)
    names = ("Ada", "Bob")
    jobs = [await kit.app.enqueue(task.call(name)) for name in names]
    await kit.run_all()
    for name, job in zip(names, jobs, strict=True):
        found = await lines(job)
        assert found[:4] == spoken(name)
        assert (LogStream.TASK, "Traceback (most recent call last):") in found
        assert found[-1] == (LogStream.STDOUT, f"end of {name}")
        assert not [text for _, text in found if ({*names} - {name}).pop() in text]
    out, err = capsys.readouterr()
    assert sorted(out.split("\n")) == ["", *(f"{what} {name}" for what in ("end of", "printed by") for name in names)]
    assert err.count("complained by") == 2, "and it goes where it went before"
    assert caplog.text.count("logged by") == 2


async def test_process_task_prints_to_its_log(app: App) -> None:
    speaking = app.task(executor="process")(bodies.speaking.function)
    async with app.worker():
        first, second = [await app.enqueue(speaking.call(name)) for name in ("Ada", "Bob")]
        await first.result(30)
        await second.result(30)
    for name, job in (("Ada", first), ("Bob", second)):
        assert await lines(job) == [
            (LogStream.STDOUT, f"printed by {name}"),
            (LogStream.STDERR, f"complained by {name}"),
            (LogStream.TASK, f"WARNING shop: logged by {name}"),
            (LogStream.TASK, f"thread of {name}"),
        ]


async def test_setting_turns_it_off(app_url: str) -> None:
    before = sys.stdout, logging.getLogRecordFactory()
    async with App(app_url, capture_output=False) as app:

        @app.task
        async def work() -> None:
            speak("Ada")

        speaking = app.task(executor="process")(bodies.speaking.function)
        async with app.worker():
            assert (sys.stdout, logging.getLogRecordFactory()) == before
            job, remote = await app.enqueue(work), await app.enqueue(speaking.call("Ada"))
            await job.result(30)
            await remote.result(30)
        assert await lines(job) == []
        assert await lines(remote) == [(LogStream.TASK, "thread of Ada")], "what was written with ctx.log"


async def test_streams_are_put_back(app: App) -> None:
    before = sys.stdout, sys.stderr, logging.getLogRecordFactory()
    async with app.worker(), app.worker():
        assert sys.stdout is not before[0]
    assert (sys.stdout, sys.stderr, logging.getLogRecordFactory()) == before


async def test_output_outside_of_bodies_is_left_alone(kit: TestKit, capsys: pytest.CaptureFixture[str]) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    @kit.app.task
    async def work() -> None:
        begun.set()
        await go.wait()

    job = await kit.app.enqueue(work)
    await kit.start_ready()
    await begun.wait()
    print("somebody else")
    log.warning("of the program")
    logging.getLogger("hanbeon.engine").warning("of the engine")
    go.set()
    await kit.settle()
    assert await lines(job) == []
    assert capsys.readouterr().out == "somebody else\n"


class Noisy:
    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        print("gone")


async def test_finalizer_may_print_at_any_time(kit: TestKit) -> None:
    @kit.app.task(executor="thread")
    def work() -> int:
        for n in range(20_000):
            Noisy()
            print(n)
        return 1

    job = await kit.app.enqueue(work)
    await kit.run_all()
    entries: list[LogEntry] = [*(await job.log(limit=10_000)).entries]
    assert await job.result(30) == 1
    assert len(entries) > 1
