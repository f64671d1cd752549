"""A server that is killed in the middle of requests and started again: every job of the client exists once."""

import asyncio
import random
import threading
from pathlib import Path

import pytest

from hanbeon.client import Client
from tests.cli.workers import Running
from tests.databases.ports import free_port
from tests.guarantees import guarantee
from tests.storm.sizes import both_sizes, part

_JOBS = 60


@pytest.mark.chaos
@both_sizes
async def test_jobs_made_over_kills_are_made_once(tmp_path: Path, sqlite_url: str, share: float) -> None:
    port, jobs = str(free_port()), part(_JOBS, share)

    def serve() -> Running:
        return Running("serve", "--database", sqlite_url, "--port", port, "--no-worker", cwd=tmp_path)

    with serve() as running:
        url = (await asyncio.to_thread(running.until, "server_started"))["url"]
        with Client(url) as client:
            office = client.office((await asyncio.to_thread(client.offices.create, "Seoul")).id)

            halfway = threading.Event()

            def make() -> list[str]:
                made = []
                for number in range(jobs):
                    (job,) = office.create_jobs([{"title": str(number)}])
                    made.append(job.id)
                    if number == jobs // 2:
                        halfway.set()
                return made

            making = asyncio.create_task(asyncio.to_thread(make))
            await asyncio.to_thread(halfway.wait)
            await asyncio.sleep(random.uniform(0, 0.05))
            running.process.kill()
            await asyncio.to_thread(running.process.wait, 30)
            with serve() as again:
                await asyncio.to_thread(again.until, "server_started")
                made = await making
                there = await asyncio.to_thread(lambda: list(office.jobs()))
                with guarantee():
                    assert [job.title for job in there] == [str(number) for number in range(jobs)]
                    assert [job.id for job in there] == made
