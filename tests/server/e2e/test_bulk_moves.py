"""Bulk moves of many jobs while workers run them, with a server that is killed in the middle and asked again."""

from __future__ import annotations

import asyncio
import http.client
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App
from hanbeon.domain.job import NewJob
from hanbeon.domain.lifecycle import State
from hanbeon.surfaces.verify import verify
from tests.server.e2e.server_process import ServerProcess, until
from tests.store.world import new_id

_JOBS = 20_000
_APP = """
from hanbeon import App

app = App("sqlite://")

@app.task(queue="many")
async def quick() -> None:
    pass

@app.task(queue="other")
async def other(number: int) -> int:
    return number
"""
_ONCE = ("succeeded", "cancelled", "stop_requested", "requeued")
_LOST = (http.client.HTTPException, OSError)


class _Servers:
    """A server without workers that takes the requests, and is replaced when it was killed."""

    def __init__(self, database_url: str, config: Path) -> None:
        self._url, self._config = database_url, config
        self._started = 0
        self.now = self._start()

    def _start(self) -> ServerProcess:
        self._started += 1
        name = f"asked-{self._started}"
        return ServerProcess(self._url, self._config, name, "--app", "bulk_app:app", "--no-worker")

    def ask(self, body: dict[str, Any], *, killed: bool = False) -> dict[str, Any] | None:
        """Send a bulk move, twice if the first one gets no answer because the server is killed meanwhile."""
        if killed:
            threading.Timer(0.02, self.now.kill).start()
        try:
            answer = self.now.client.ask_now("POST", "/api/engine/jobs/bulk", body)
        except _LOST:
            self.now.kill()
            self.now = self._start()
            return None
        assert answer.status == 200, answer
        found: dict[str, Any] = answer.json
        return found


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "bulk_app.py").write_text(_APP)
    config = tmp_path / "hanbeon.toml"
    config.write_text("")
    return config


@pytest.mark.slow
def test_bulk_moves_each_job_once_if_its_server_is_killed(database_url: str, config: Path) -> None:
    asyncio.run(_enqueue(database_url, _JOBS))
    servers = _Servers(database_url, config)
    working = ServerProcess(database_url, config, "working", "--app", "bulk_app:app")
    try:
        others = _others(working)
        cancelled = _move_all(servers, {"action": "cancel", "filter": {"queue": "many"}}, others)
        assert cancelled, "the worker was quicker than the first request"
        until(lambda: _count(working, "pending,ready,running") == 0, "nothing is left to run")
        _move_all(servers, {"action": "retry", "filter": {"queue": "many", "state": ["cancelled"]}}, others)
        until(lambda: _count(working, "pending,ready,running,cancelled,failed") == 0, "all have run", 300)
    finally:
        servers.now.kill()
        working.kill()
    asyncio.run(_check(database_url, _JOBS))


def _move_all(servers: _Servers, body: dict[str, Any], others: Iterator[None]) -> int:
    """Move all that matches, with a kill at the second and at the fifth request; return how many were answered for."""
    done, requests = 0, 0
    while True:
        requests += 1
        answer = servers.ask(body, killed=requests in (2, 5))
        next(others)
        if answer is None:
            continue
        done += int(answer["done"])
        if not answer["more"]:
            return done
        body["cursor"] = answer["next_cursor"]


def _others(server: ServerProcess) -> Iterator[None]:
    """Enqueue another job each time, and wait for its end: bulk moves do not stall other work."""
    number = 0
    while True:
        number += 1
        made = server.client.ask_now("POST", "/api/engine/jobs", {"task": "other", "args": {"number": number}}).json
        until(lambda: _state(server, made["id"]) == "succeeded", "another job runs")  # noqa: B023
        yield


def _state(server: ServerProcess, job_id: str) -> str:
    return str(server.client.ask_now("GET", f"/api/engine/jobs/{job_id}").json["state"])


def _count(server: ServerProcess, states: str) -> int:
    query = f"queue=many&state={states}&limit=1"
    return len(server.client.ask_now("GET", f"/api/engine/jobs?{query}").json["items"])


async def _enqueue(url: str, count: int) -> None:
    async with App(url) as app:
        for _ in range(count // 10_000 or 1):
            await app.store.enqueue([_quick() for _ in range(min(count, 10_000))])


def _quick() -> NewJob:
    return NewJob(id=new_id(), task="quick", queue="many", args="{}")


async def _check(url: str, count: int) -> None:
    """Each job succeeded once and was moved once in each direction, at most; and the history is sound."""
    async with App(url) as app:
        assert (await app.counts("many"))[State.SUCCEEDED] == count
        report = await verify(app.store)
        assert report.findings == ()
        moves: Counter[tuple[str, str | None]] = Counter()
        last = 0
        while events := await app.events_after(last):
            moves.update((event.type, event.job_id) for event in events if event.queue == "many")
            last = events[-1].id
        assert sum(moves[kind] for kind in moves if kind[0] == "succeeded") == count
        assert [kind for kind, number in moves.items() if number > 1 and kind[0] in _ONCE] == []
