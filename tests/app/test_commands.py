"""Commands run by a worker on both stores, with a log that can be read meanwhile."""

import asyncio
import sys
from itertools import accumulate
from pathlib import Path
from typing import Any

import psutil
import pytest

from hanbeon import App, State
from hanbeon.domain.lifecycle import AttemptStatus
from hanbeon.domain.log import LogCut, LogLine
from hanbeon.job import Job
from hanbeon.tasks.task import Task
from hanbeon.testing import TestKit
from tests.executors.workbench import alive, numbers, until
from tests.storm.journal import Journal

FLOOD = "import os, sys; block = b'x' * 99 + b'\\n'; [os.write(1, block * 640) for _ in range(int(sys.argv[1]))]"


def shell(app: App, script: str, **options: Any) -> Task[..., Any]:
    return app.command("work", ["sh", "-c", script], **{"retries": 0} | options)


async def lines(job: Job[Any]) -> list[str]:
    page = await job.log()
    return [entry.text for entry in page.entries if isinstance(entry, LogLine)]


async def test_result_progress_and_log_of_a_command(app: App) -> None:
    script = """echo hello; echo oops >&2; echo '{"progress": 50}' >&3; echo '{"result": ["done"]}' >&3"""
    async with app.worker():
        job = await app.enqueue(shell(app, script))
        assert await job.result(30) == ["done"]
    record = await job.record()
    assert record.progress == "50"
    streams = {(entry.stream, entry.text) for entry in (await job.log()).entries if isinstance(entry, LogLine)}
    assert streams == {("stdout", "hello"), ("stderr", "oops")}


async def test_command_log_is_readable_while_it_runs(app: App, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    script = f"""echo first; echo '{{"progress": 1}}' >&3; while [ ! -e {gate} ]; do sleep 0.01; done; echo last"""
    async with app.worker():
        job = await app.enqueue(shell(app, script))
        async with asyncio.timeout(30):
            while await lines(job) != ["first"] or (await job.record()).progress != "1":  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.02)
        assert await job.state() is State.RUNNING
        gate.touch()
        await job.result(30)
    assert await lines(job) == ["first", "last"]


@pytest.mark.parametrize(("code", "failure_type", "attempts"), [(75, "temporary", 3), (77, "permission_error", 1)])
async def test_exit_codes_decide_whether_it_is_tried_again(
    app: App, code: int, failure_type: str, attempts: int
) -> None:
    script = f"""echo "attempt $HANBEON_ATTEMPT $HANBEON_SESSION_ID"; echo no >&2; exit {code}"""
    async with app.worker():
        job = await app.enqueue(shell(app, script, retries=2, retry_delay=0))
        record = await job.wait(30)
    assert (record.failure_type, record.error_message) == (failure_type, f"exit code {code}: no")
    printed = [line.split() for line in await lines(job) if line.startswith("attempt")]
    assert [words[1] for words in printed] == [str(number + 1) for number in range(attempts)]
    assert len({words[2] for words in printed}) == attempts, "every attempt is a session of its own"


async def test_a_timeout_kills_a_pipeline_and_keeps_its_log(app_url: str) -> None:
    async with App(app_url, stop_grace=0.3) as app, app.worker():
        job = await app.enqueue(shell(app, "trap '' TERM; echo here; sleep 3617 | sleep 3617", timeout=3))
        record = await job.wait(30)
        assert (record.failure_type, record.error_message) == ("timeout", "Job execution timed out")
        assert await lines(job) == ["here"]
    assert not [each for each in psutil.process_iter(["cmdline"]) if each.info["cmdline"] == ["sleep", "3617"]]


async def test_a_cancelled_command_is_dead_when_it_is_cancelled(app_url: str, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    async with App(app_url, stop_grace=0.3) as app, app.worker():
        script = f"""trap '' TERM; echo "began $$" >> {journal}; sleep 3600"""
        job = await app.enqueue(shell(app, script))
        (pid,) = await numbers(journal, 1)
        assert await app.cancel(job) is State.RUNNING
        await job.wait(30)
        assert not alive(pid)
        assert [attempt.status for attempt in await job.attempts()] == [AttemptStatus.CANCELLED]


async def test_the_test_kit_runs_commands_too(kit: TestKit) -> None:
    greet = kit.app.command("greet", ["sh", "-c", 'echo "{\\"result\\": \\"hello $1\\"}" >&3', "sh", "{args.name}"])
    job = await kit.app.enqueue(greet.call(name="Ada"))
    assert await kit.tick() == 1
    assert await job.result(20) == "hello Ada"


async def test_two_hundred_at_once_on_a_limit(app_url: str, tmp_path: Path) -> None:
    """With a limit of 25 never more of them run, and neither processes nor descriptors are left."""
    journal = Journal(tmp_path / "journal")
    async with App(app_url, concurrency=200) as app:
        await app.configure_queue("default", max_concurrent=25)
        journalled = f"""echo "began $$" >> {journal}; sleep 0.5; echo "ended $$" >> {journal}"""
        work = shell(app, f'echo "out $HANBEON_JOB_ID"; echo err >&2; {journalled}')
        async with app.worker():
            await (await app.enqueue(work)).wait(30)
            before = psutil.Process().num_fds()
            jobs = await app.enqueue_many([work.call() for _ in range(200)])
            async with asyncio.timeout(100):
                for job in jobs:
                    await job.wait()
            steps = [1 if words[0] == "began" else -1 for words in journal.lines()]
            assert len(steps) == 402
            assert max(accumulate(steps)) <= 25
            assert [await lines(job) for job in jobs] == [[f"out {job.id}", "err"] for job in jobs]
            # The pool may have opened a few more connections; a leak would be hundreds.
            most = before + app.settings.pool_size
            await until("the descriptors are closed", lambda: psutil.Process().num_fds() <= most)
        assert [each for each in psutil.Process().children(recursive=True) if each.status() == "zombie"] == []


@pytest.mark.slow
async def test_a_flood_is_cut_and_stalls_nobody(app_url: str) -> None:
    """A quarter of a gigabyte; a whole one behaves alike and takes four times as long."""
    megabytes = 250
    async with App(app_url, max_log_bytes=100_000) as app:
        flood = app.command("flood", [sys.executable, "-c", FLOOD, "{args.blocks}"], retries=0)
        beside = app.command("beside", ["true"])
        async with app.worker():
            await (await app.enqueue(beside.call())).wait(30)
            before = psutil.Process().memory_info().rss
            job = await app.enqueue(flood.call(blocks=megabytes * 1_000_000 // 64_000))
            while not (await job.record()).started_at:  # noqa: ASYNC110 - the same
                await asyncio.sleep(0.01)
            await (await app.enqueue(beside.call())).wait(30)
            await job.result(100)
            assert psutil.Process().memory_info().rss - before < 50_000_000
        entries = (await job.log()).entries
        (cut,) = [entry for entry in entries if isinstance(entry, LogCut)]
        kept = [entry for entry in entries if isinstance(entry, LogLine)]
        assert cut.lines + len(kept) == megabytes * 1_000_000 // 64_000 * 640
        assert sum(len(entry.text) + 1 for entry in kept) < 100_000
