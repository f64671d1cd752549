"""Simulations over HTTP: one at a time is computed, a few wait, and nobody else does."""

import asyncio
import threading
from typing import Any

import pytest

from hanbeon import App
from hanbeon.surfaces.offices import simulation
from tests.server.client import serving
from tests.server.websocket_client import PATIENCE, new_jobs, new_office, until


class _Gate:
    """Holds computations that have begun, until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = threading.Event()
        self.begun = self.now = self.most = 0
        compute: Any = simulation.OfficeSimulation._simulation

        def held(*args: Any) -> Any:
            self.begun += 1
            self.now += 1
            self.most = max(self.most, self.now)
            assert self.open.wait(PATIENCE)
            self.now -= 1
            return compute(*args)

        monkeypatch.setattr(simulation.OfficeSimulation, "_simulation", held)

    async def has_begun(self) -> bool:
        return self.begun > 0


async def test_simulations_are_computed_one_at_a_time(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "_WAITING_MOST", 1)
    gate = _Gate(monkeypatch)
    async with serving(app) as server:
        office = await new_office(server)
        await new_jobs(server, office, 3)
        path = f"/api/offices/{office}/scheduler/simulate"
        asked = {asyncio.create_task(server.post(path)) for _ in range(3)}
        try:
            await until(gate.has_begun)
            # Nobody waits for it but simulations, and it holds no transaction.
            await new_jobs(server, office)
            async with asyncio.timeout(PATIENCE):
                done, others = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gate.open.set()
        refused = [task.result() for task in done]
        answers = await asyncio.gather(*others)
        assert [(each.status, each.code, each.headers["retry-after"]) for each in refused] == [(503, "busy", "1")]
        assert [answer.status for answer in answers] == [200, 200]
        assert (gate.begun, gate.most) == (2, 1)
        assert (await server.post(path)).status == 200
