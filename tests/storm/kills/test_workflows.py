"""The instance is killed inside steps and messages: what was recorded is not done again, what was in flight is."""

from __future__ import annotations

from collections import Counter

import pytest

from hanbeon import App
from hanbeon.surfaces.verify import verify
from hanbeon.surfaces.workflows.schemas import WorkflowRun
from tests.guarantees import guarantee
from tests.outbound.web import Reply, Seen, Web, reply, silence
from tests.storm.fleet import LASTING, fleet
from tests.storm.moments import until
from tests.storm.sizes import TIMEOUT, short_on

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(TIMEOUT)]
RECIPIENTS = 3


class Held(Web):
    """A server that never answers the first request to each of these paths."""

    def __init__(self, *paths: str) -> None:
        super().__init__()
        self.left_to_hold = set(paths)
        self.held: list[str] = []
        self.answer = self._answer

    def _answer(self, seen: Seen) -> Reply:
        if seen.target in self.left_to_hold:
            self.left_to_hold.remove(seen.target)
            self.held.append(seen.target)
            return silence
        return reply(200)

    async def holds(self, count: int) -> None:
        async def ask() -> bool | None:
            return True if len(self.held) >= count else None

        await until(f"{count} requests are held", ask)


@short_on("sqlite")
async def test_workflow_survives_kills_inside_its_steps(database_url: str, share: float) -> None:
    paths = [f"/step{n}" for n in range(4)] + [f"/to{n}" for n in range(RECIPIENTS)]
    killed = paths if share == 1 else ["/step1", "/to1"]
    web = Held(*killed)
    async with web, App(database_url, outbound_allow_private=True) as app:
        steps = [{"type": "http", "url": f"{web.url}{path}", "name": path[1:]} for path in paths[:4]]
        people = [{"target": f"json://127.0.0.1:{web.port}{path}"} for path in paths[4:]]
        steps.append({"type": "message", "name": "mail", "body": "안녕", "recipients": people})  # type: ignore[dict-item]
        with fleet(database_url, kind="workflows", settings=LASTING) as workers:
            workers.start()
            await workers.ready()
            made = await app.workflows.create(
                name="x", steps=steps, schedule_config={"mode": "immediate"}, status="active"
            )
            for number in range(1, len(killed) + 1):
                await web.holds(number)
                await workers.kill_all(app)
                workers.start()

            async def ended() -> WorkflowRun | None:
                run = (await app.workflows.runs(made)).items[0]
                return None if run.is_unfinished else run

            run = await until("the run has ended", ended)
        with guarantee():
            assert run.status == "completed", run
            assert Counter(seen.target for seen in web.seen) == {path: 1 + (path in killed) for path in paths}
            of_step = {step.name: step.unknown for step in run.steps[:4]}
            assert of_step == {path[1:]: int(path in killed) for path in paths[:4]}
            of_message = [each.unknown for each in run.steps[4].deliveries]
            assert of_message == [int(path in killed) for path in paths[4:]]
            assert run.steps[4].output == {"sent": RECIPIENTS, "unknown": sum(of_message)}
            keys = {seen.target: set[str]() for seen in web.seen}
            for seen in web.seen:
                keys[seen.target].add(seen.headers.get("idempotency-key", ""))
            assert all(len(found) == 1 for found in keys.values()), keys
            assert (await verify(app.store)).findings == ()
