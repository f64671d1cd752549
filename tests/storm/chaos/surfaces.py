"""The load of the surfaces: chains and workflows that are created over HTTP, and schedules that fire each second."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from hanbeon import App
from hanbeon.surfaces.workflows.schemas import WorkflowRun
from tests.outbound.web import Web
from tests.server.client import Client, Response
from tests.storm.chain_operations import __name__ as CHAIN_LIBRARY
from tests.storm.chaos.load import Load, nothing_left
from tests.storm.chaos.tasks import SCHEDULED
from tests.storm.journal import Journal
from tests.storm.moments import rows_of, until
from tests.storm.schedules import clients
from tests.storm.schedules.judge import judge
from tests.storm.schedules.witness import watch
from tests.storm.sizes import TIMEOUT
from tests.storm.workload import Verdict

_LENGTH = 3
_SCHEDULES = 4
_PAUSE = 0.5
_MADE = "SELECT (SELECT count(*) FROM hanbeon.chain) + (SELECT count(*) FROM hanbeon.workflow) AS n"
Making = Callable[[Load, int], Awaitable[None]]


class Surfaces:
    """Creates chains and workflows through a server, and has schedules fire, for as long as a load lasts."""

    def __init__(self, app: App, client: Client, web: Web, folder: Path, rng: random.Random) -> None:
        self.app, self._client, self._web, self._folder = app, client, web, folder
        self._shared = clients.SharedState(SCHEDULED, Journal(folder / "schedules"))
        self._schedules = clients.Client(app, self._shared, random.Random(rng.random()))
        self._chains: dict[int, Path] = {}
        self._workflows: list[str] = []
        self._made = 0
        self.unanswered = 0
        """Requests that were given up when a load was over."""

    async def prepare(self) -> None:
        """Create the schedules, paused."""
        await watch(self.app.store)
        for _ in range(_SCHEDULES):
            await self._schedules.make(clients.EACH_SECOND)
        await self._schedules.pause_all()

    async def run(self, load: Load, most: int) -> None:
        """Create so many chains and workflows during the load, and have the schedules fire until it is over."""
        await self._until_done(self._schedules.resume_all)
        async with asyncio.TaskGroup() as group:
            for make in (self._make_chain, self._make_workflow):
                group.create_task(self._make(make, load, most))
        await load.over.wait()
        await self._until_done(self._schedules.pause_all)

    async def settle(self) -> None:
        """Wait until nothing is unfinished: no job, and so no run of a workflow, and no chain."""

        async def ended() -> bool | None:
            if not await nothing_left(self.app):
                return None
            return None if (await self.app.chains.list(state="RUNNING", limit=1)).items else True

        await until("everything has ended", ended, TIMEOUT)

    async def judge(self, *, fires: bool) -> Verdict:
        """Judge the chains and workflows since the last time, and perhaps all fires of the schedules."""
        verdict = Verdict()
        for queue_id, folder in self._chains.items():
            await self._judge_chain(verdict, queue_id, folder)
        for name in self._workflows:
            await self._judge_workflow(verdict, name)
        if fires:
            judgement = await judge(self.app.store, self._shared.journal, self._shared.asked_to_delete)
            verdict.lost += judgement.findings
        (row,) = await rows_of(self.app.store, _MADE)
        if row["n"] > self._made:
            verdict.doubled.append(f"{row['n']} chains and workflows of {self._made} requests")
        self._chains.clear()
        self._workflows.clear()
        return verdict

    # Creation

    async def _make(self, make: Making, load: Load, most: int) -> None:
        for _ in range(most):
            if not await load.lasts(_PAUSE):
                return
            self._made += 1
            await make(load, self._made)

    async def _make_chain(self, load: Load, number: int) -> None:
        """A chain of which one in five goes back from its end."""
        folder = self._folder / f"chain{number}"
        folder.mkdir()
        jobs: list[dict[str, Any]] = [
            {"forward_operation": "forward", "backward_operation": "backward"} for _ in range(_LENGTH)
        ]
        for n, job in enumerate(jobs):
            job["arguments"] = {"n": n, "folder": str(folder)}
        if number % 5 == 0:
            jobs[-1]["forward_operation"] = "forward_fails"
        body = {"queue_library": CHAIN_LIBRARY, "jobs": jobs}
        if made := await self._post(load, "/api/chains", body, f"chain-{number}"):
            queue_id = made.json["queue_id"]
            if await self._post(load, f"/api/chains/{queue_id}/run", None, f"run-of-chain-{number}"):
                self._chains[queue_id] = folder

    async def _make_workflow(self, load: Load, number: int) -> None:
        """A workflow that calls this process, and then runs a task."""
        retried = {"retries": 100, "retry_delay": 0.2}
        steps = [
            {"type": "http", "url": f"{self._web.url}/{number}", "name": "call", **retried},
            {"type": "task", "task_id": "step", "name": "task", **retried},
        ]
        body = {"name": f"{number}", "steps": steps, "schedule_config": {"mode": "immediate"}, "status": "active"}
        if made := await self._post(load, "/api/workflows", body, f"workflow-{number}"):
            self._workflows.append(made.json["id"])

    async def _post(self, load: Load, path: str, body: Any, key: str) -> Response | None:
        """Send a request until there is an answer; its key makes it one. Give up when the load is over.

        A request that a killed server had begun can be repeated only a minute later.
        """

        async def ask() -> Response | bool | None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                answer = await self._client.post(path, body, Idempotency_Key=key)
                # A repeat may meet the first request, which goes on after its client is gone.
                if answer.status not in (409, 503):
                    assert answer.status in (200, 201, 202), answer
                    return answer
            return False if load.over.is_set() else None

        made = await until("an answer", ask, TIMEOUT)
        if isinstance(made, Response):
            return made
        self.unanswered += 1
        return None

    async def _until_done(self, change: Callable[[], Awaitable[None]]) -> None:
        async def done() -> bool | None:
            await change()
            return True

        await until("the schedules are changed", done, TIMEOUT)

    # Judgement

    async def _judge_chain(self, verdict: Verdict, queue_id: int, folder: Path) -> None:
        chain = await self.app.chains.get(queue_id)
        if chain.is_unfinished or not isinstance(chain.queue_return, list):
            verdict.lost.append(f"chain {queue_id} is {chain.state}")
            return
        numbers = {job.job_id: job.arguments["n"] for job in chain.jobs}
        steps = [(each.direction.value, int(numbers[each.job_id])) for each in chain.queue_return]
        ahead = [n for direction, n in steps if direction == "FORWARD"]
        back = [n for direction, n in steps if direction == "BACKWARD"]
        # An operation that was lost twice in a row counts as failed, so any chain may turn around.
        whole = ahead == list(range(_LENGTH)) and not back
        if not whole and (ahead != list(range(len(ahead))) or back != ahead[::-1]):
            verdict.lost.append(f"chain {queue_id} went {steps}")
        began = {line[1] for line in Journal(folder / "journal").lines("begin")}
        if whole:
            verdict.lost += [f"chain {queue_id}: {n} never began" for n in ahead if f"FORWARD-{n}" not in began]
        runs = (await self.app.chains.runs(queue_id)).items
        verdict.doubled += [f"chain {queue_id} ran {len(runs)} times"] if len(runs) > 1 else []

    async def _judge_workflow(self, verdict: Verdict, workflow: str) -> None:
        async def ended() -> list[WorkflowRun] | None:
            runs = (await self.app.workflows.runs(workflow)).items
            return runs if runs and not any(run.is_unfinished for run in runs) else None

        runs = await until(f"workflow {workflow} has ended", ended, TIMEOUT)
        name = (await self.app.workflows.get(workflow)).name
        seen = [each for each in self._web.seen if each.target == f"/{name}"]
        if len(runs) > 1:
            verdict.doubled.append(f"workflow {name} ran {len(runs)} times")
        if runs[0].status != "completed" or not seen:
            verdict.lost.append(f"workflow {name}: {runs[0]}")
        elif len(seen) > runs[0].steps[0].attempts + runs[0].steps[0].unknown:
            verdict.doubled.append(f"workflow {name} called {len(seen)} times: {runs[0].steps[0]}")
        if len({each.headers.get("idempotency-key") for each in seen}) > 1:
            verdict.doubled.append(f"workflow {name} called with several keys")
