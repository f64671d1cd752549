"""Forks and exits of processes: no open connection crosses a fork, and no exit hangs."""

import subprocess
import sys
import textwrap
import time

import pytest

from hanbeon.surfaces.store_parts import migrate

_START = """
import os, stat, sys, threading, time
from hanbeon import App, JobCancelled, State, SyncApp
url = sys.argv[1]
app = App(url)
@app.task
async def t(n: int) -> int:
    return n
jobs = SyncApp(app)

def open_handles():
    # Sockets, and files of the database.
    found = []
    for fd in range(3, 256):
        try:
            status = os.fstat(fd)
        except OSError:
            continue
        if stat.S_ISSOCK(status.st_mode) or stat.S_ISREG(status.st_mode):
            found.append(fd)
    return found
"""


def run(script: str, url: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", _START + textwrap.dedent(script), url],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture
async def url(database_url: str) -> str:
    await migrate(database_url)
    return database_url


def test_each_process_opens_its_own_after_a_fork(url: str) -> None:
    """As in a server that is opened before it forks its workers."""
    done = run(
        """
        jobs.open()
        first = jobs.enqueue(t.call(0), delay=3600)
        answers = []
        def wait():
            try:
                first.result()
            except JobCancelled:
                answers.append("cancelled")
        waiting = threading.Thread(target=wait)
        waiting.start()
        following = jobs.events()
        assert next(following).type == "scheduled"
        children = []
        for n in range(4):
            pid = os.fork()
            if pid == 0:
                try:
                    assert not open_handles(), open_handles()
                    assert threading.active_count() == 1
                    assert not jobs.is_open
                    jobs.enqueue_many([t.call(k) for k in range(50)])
                    assert first.state() is State.PENDING
                    with jobs.transaction() as tx:
                        jobs.enqueue(t.call(50), transaction=tx)
                    jobs.close()
                    os._exit(0)
                except BaseException as error:
                    print(repr(error), file=sys.stderr)
                    os._exit(1)
            children.append(pid)
            jobs.enqueue(t.call(n))
        assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 4
        assert jobs.counts()[State.READY] == 4 * 52
        assert next(following).type == "enqueued"
        first.cancel()
        waiting.join(20)
        assert answers == ["cancelled"]
        jobs.close()
        print("fine")
        """,
        url,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")


def test_a_transaction_does_not_cross_a_fork(url: str) -> None:
    done = run(
        """
        from hanbeon.errors import DatabaseUnavailable
        try:
            with jobs.transaction() as tx:
                jobs.enqueue(t.call(1), transaction=tx)
                pid = os.fork()
                try:
                    tx.fetch("SELECT 1")
                except DatabaseUnavailable as error:
                    assert "fork" in str(error)
                if pid == 0:
                    os._exit(0)
                assert os.waitpid(pid, 0)[1] == 0
        except DatabaseUnavailable as error:
            assert "has ended" in str(error)
            print(jobs.counts()[State.READY])
        """,
        url,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


@pytest.mark.parametrize("how", ["returns", "raises", "exits", "waits"])
def test_a_program_may_end_without_closing(url: str, how: str) -> None:
    began = time.monotonic()
    end = {
        "returns": "pass",
        "raises": "raise SystemExit(0)",
        "exits": "sys.exit(0)",
        "waits": "threading.Thread(target=job.result, daemon=True).start(); time.sleep(0.3)",
    }[how]
    done = run(
        f"""
        job = jobs.enqueue(t.call(1))
        assert next(jobs.events()).type == "enqueued"
        print(job.state().value)
        {end}
        """,
        url,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ready\n", "")
    assert time.monotonic() - began < 30


def test_work_is_woken_by_a_script_that_ends_at_once(url: str) -> None:
    """The hint for the workers goes out before the thread ends."""
    done = run(
        """
        import asyncio
        app.settings = app.settings.model_copy(update={"poll": 60.0})
        async def work():
            async with app, app.worker():
                loop = asyncio.get_running_loop()
                await asyncio.sleep(0.5)  # Idle by now, and listening.
                def script():
                    with SyncApp(app) as jobs:
                        return jobs.enqueue(t.call(7)).id
                job = await loop.run_in_executor(None, script)
                assert await app.job(job).result(30) == 7, "it would be polled for after a minute"
        asyncio.run(work())
        print("fine")
        """,
        url,
    )
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr
