"""The instance is killed inside operations and between them: the chain ends as it would have without a kill."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App
from hanbeon.surfaces.chains.schemas import Chain
from hanbeon.surfaces.verify import verify
from tests.guarantees import guarantee
from tests.storm.chain_operations import __name__ as CHAIN_LIBRARY
from tests.storm.fleet import LASTING, Fleet, fleet
from tests.storm.moments import until
from tests.storm.sizes import TIMEOUT, short_on, sized

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(TIMEOUT)]
Step = tuple[str, int]
CHAINS = sized(100, 1_000)
LENGTH = sized(6, 10)
"""Of a chain that is killed inside and between all of its operations, forward and back."""


class Scene:
    """One chain whose last forward operation fails, and the folder in which its operations leave their traces."""

    def __init__(self, app: App, folder: Path, length: int) -> None:
        self.app, self.folder = app, folder
        numbers = list(range(length))
        self.steps: list[Step] = [("FORWARD", n) for n in numbers] + [("BACKWARD", n) for n in reversed(numbers)]
        self.length = length
        self.queue_id = 0
        self.promises: list[tuple[int, list[Step]]] = []
        """At each kill: the length of the journal, and the steps that were recorded and must not run again."""

    async def begin(self) -> None:
        jobs = [
            {
                "forward_operation": "forward_fails" if n == self.length - 1 else "forward",
                "backward_operation": "backward",
                "arguments": {"n": n, "folder": str(self.folder)},
                "expired_time": 600,
            }
            for n in range(self.length)
        ]
        chain = await self.app.chains.create(queue_library=CHAIN_LIBRARY, jobs=jobs)
        self.queue_id = chain.queue_id
        await self.app.chains.run(chain)

    def hold(self, step: Step) -> None:
        """Have the operation wait inside, the first time that it runs."""
        (self.folder / f"hold-{step[0]}-{step[1]}").touch()

    async def inside(self, step: Step) -> None:
        held = self.folder / f"held-{step[0]}-{step[1]}"

        async def ask() -> bool | None:
            return True if held.exists() else None

        await until(f"{step} has begun", ask)

    async def recorded(self) -> list[Step]:
        chain = await self.app.chains.get(self.queue_id)
        assert isinstance(chain.queue_return, list)
        numbers = {job.job_id: job.arguments["n"] for job in chain.jobs}
        return [(each.direction.value, numbers[each.job_id]) for each in chain.queue_return]

    async def after(self, count: int) -> None:
        async def ask() -> bool | None:
            return True if len(await self.recorded()) >= count else None

        await until(f"{count} steps are recorded", ask)

    async def ended(self) -> Chain:
        async def ask() -> Chain | None:
            chain = await self.app.chains.get(self.queue_id)
            return chain if chain.state == "READY" else None

        return await until("the chain has ended", ask)

    def journal(self) -> list[str]:
        path = self.folder / "journal"
        return path.read_text().splitlines() if path.exists() else []


async def kill_and_replace(scene: Scene, workers: Fleet) -> None:
    """Kill the instance. What was recorded until then never runs again."""
    await workers.kill_all(scene.app)
    scene.promises.append((len(scene.journal()), await scene.recorded()))
    workers.start()


@short_on("sqlite")
async def test_chain_survives_kills_inside_operations(database_url: str, share: float, tmp_path: Path) -> None:
    async with scene_of(database_url, tmp_path, LENGTH if share == 1 else 2) as (scene, workers):
        killed = scene.steps if share == 1 else scene.steps[1::2]
        for step in killed:
            scene.hold(step)
        await scene.begin()
        for step in killed:
            await scene.inside(step)
            await kill_and_replace(scene, workers)
        await assert_ended_as_without_kills(scene)


@pytest.mark.slow
@pytest.mark.parametrize("database_url", ["sqlite", "postgres"], indirect=True)
async def test_chain_survives_kills_between_operations(database_url: str, tmp_path: Path) -> None:
    async with scene_of(database_url, tmp_path, LENGTH) as (scene, workers):
        await scene.begin()
        for number in range(1, len(scene.steps)):
            await scene.after(number)
            await kill_and_replace(scene, workers)
        await assert_ended_as_without_kills(scene)


@asynccontextmanager
async def scene_of(url: str, folder: Path, length: int) -> AsyncIterator[tuple[Scene, Fleet]]:
    async with App(url, chain_libraries=CHAIN_LIBRARY) as app:
        with fleet(url, kind="chains", settings=LASTING) as workers:
            workers.start()
            await workers.ready()
            yield Scene(app, folder, length), workers


async def assert_ended_as_without_kills(scene: Scene) -> None:
    chain = await scene.ended()
    last = scene.length - 1
    with guarantee():
        assert await scene.recorded() == scene.steps
        assert [job.state for job in chain.jobs] == ["SUCCESS, CANCELED"] * last + ["FAILED, CANCELED"]
        assert chain.context == {"done": list(range(last)), "undone": list(reversed(range(scene.length)))}
        for lines, done in scene.promises:
            later = scene.journal()[lines:]
            assert not {f"begin {direction}-{n}" for direction, n in done} & set(later)
        assert (await verify(scene.app.store)).findings == ()


@pytest.mark.slow
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
async def test_many_chains_on_two_workers_end(database_url: str, tmp_path: Path) -> None:
    """A tenth of them fail at their last job, and each undoes its own ten steps."""
    count, length = CHAINS, 10
    operations: dict[str, Any] = {"forward_operation": "forward", "backward_operation": "backward"}
    async with App(database_url, chain_libraries=CHAIN_LIBRARY) as app:
        with fleet(database_url, kind="chains", settings=LASTING) as workers:
            workers.start(2)
            await workers.ready()
            for number in range(count):
                last = "forward_fails" if number % 10 == 0 else "forward"
                jobs = [{**operations, "arguments": {"folder": str(tmp_path), "n": n}} for n in range(length)]
                jobs[-1]["forward_operation"] = last
                chain = await app.chains.create(queue_library=CHAIN_LIBRARY, jobs=jobs)
                await app.chains.run(chain)

            async def none_runs() -> bool | None:
                return None if (await app.chains.list(state="RUNNING", limit=1)).items else True

            await until("no chain runs any more", none_runs, TIMEOUT)
        with guarantee():
            cursor, found = None, []
            while True:
                page = await app.chains.list(cursor=cursor)
                found += page.items
                cursor = page.next_cursor
                if cursor is None:
                    break
            assert len(found) == count
            forward, numbers = list(range(length)), list(range(length - 1))
            undone = {"done": numbers, "undone": list(reversed(forward))}
            ahead = [("FORWARD", n) for n in forward]
            for number, chain in enumerate(found):
                assert chain.state == "READY"
                assert chain.context == (undone if number % 10 == 0 else {"done": forward})
                back = [("BACKWARD", n) for n in reversed(forward)] if number % 10 == 0 else []
                (run,) = (await app.chains.runs(chain)).items
                numbers_of = {job.job_id: job.arguments["n"] for job in chain.jobs}
                assert [(step.direction.value, numbers_of[step.job_id]) for step in run.queue_return] == ahead + back
            assert (await verify(app.store)).findings == ()
