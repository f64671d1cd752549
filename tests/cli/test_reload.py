"""`hanbeon worker --reload`: new code runs after a change, and the jobs of the old code end first."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

from hanbeon import App
from tests.cli.hanbeon import call, environment
from tests.cli.workers import Running

_CODE = """
import asyncio
from pathlib import Path

from hanbeon import App

app = App("sqlite:///jobs.db")

@app.task
async def version() -> str:
    return {version!r}

@app.task
async def wait_for_file() -> str:
    Path("began").touch()
    while not Path("go").exists():
        await asyncio.sleep(0.02)
    return {version!r}
"""


class Reloading(Running):
    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "hanbeon", "worker", "--reload", "--app", "live:app"]
        self.process = subprocess.Popen(command, cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True)
        self.words: list[str] = []

    async def until_line(self, words: str) -> None:
        """Read until a line has these words: its own lines are no JSON."""
        await asyncio.to_thread(self._read, words)

    def _read(self, words: str) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.words.append(line)
            if words in line:
                return
        raise AssertionError(self.words)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.process.terminate()  # Not a kill: its worker must end, too.
        self.process.communicate()


async def test_a_change_restarts_the_worker_and_loses_no_job(tmp_path: Path) -> None:
    code, url = tmp_path / "live.py", f"sqlite:///{tmp_path}/jobs.db"
    code.write_text(_CODE.format(version="one"))

    async def enqueue(task: str, *options: str) -> str:
        place = ("--database", url, "--queue", "default", "--retries", "0")
        (line,) = (await call("enqueue", task, *options, *place)).lines
        return line

    with Reloading(tmp_path) as worker:
        await worker.until_line("worker_started")
        assert await enqueue("version", "--wait") == '"one"'
        async with App(url) as app:
            job = app.job(await enqueue("wait_for_file"))
            async for event in app.events():
                if event.type == "claimed" and event.job_id == job.id:
                    break
            code.write_text(_CODE.format(version="two!"))
            await worker.until_line("live.py has changed: the worker restarts")
            await worker.until_line("worker_stopping")
            (tmp_path / "go").touch()
            assert await job.result(timeout=60) == "one", "it ended in the worker that began it"
        await worker.until_line("worker_started")
        assert await enqueue("version", "--wait") == '"two!"'

        code.write_text("this is no Python")
        await worker.until_line("SyntaxError")
        await worker.until_line("it starts again when a file changes")
        code.write_text(_CODE.format(version="three"))
        await worker.until_line("worker_started")
        assert await enqueue("version", "--wait") == '"three"'

        worker.process.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(worker.process.wait, 60) == 0
