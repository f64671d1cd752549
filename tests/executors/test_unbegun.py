"""Bodies that wait for a worker process: until they begin, the database knows that they have not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hanbeon.store.operations.complete import recover
from hanbeon.testing import TestKit
from tests.executors import gated_module


async def test_loss_while_its_process_starts_fails_nothing(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `on_lost="fail"`: the instance is frozen while the process imports, and another recovers the job."""
    gate = tmp_path / "gate"
    monkeypatch.setenv("HANBEON_TEST_GATE", str(gate))
    async with TestKit(gated_module.app, database_url) as kit:
        job = await kit.app.enqueue(gated_module.gated)
        await kit.start_ready()
        (attempt,) = kit.worker.attempts
        assert attempt._unbegun_note is not None
        await asyncio.wait([attempt._unbegun_note])
        await kit.clock.advance(kit.app.settings.lease + 1)
        (lost,) = await kit.app.store.write(lambda tx: recover(tx, kit.app.store.lanes, 10))
        assert (lost.reason, lost.retry_count) == ("postponed", 0)
        await kit.worker.renew.run_once()
        gate.touch()
        await kit.run_all()
        assert await job.result() == "ran"
        assert (await job.record()).fence == 2


async def test_body_begins_only_when_that_is_noted(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = tmp_path / "gate"
    gate.touch()
    monkeypatch.setenv("HANBEON_TEST_GATE", str(gate))
    async with TestKit(gated_module.app, database_url) as kit:
        noted: list[bool] = []
        note = kit.app.store.note_begin

        async def watched(held: object, *, begun: bool) -> bool:
            noted.append(begun)
            return await note(held, begun=begun)  # type: ignore[arg-type]

        monkeypatch.setattr(kit.app.store, "note_begin", watched)
        jobs = [await kit.app.enqueue(gated_module.gated) for _ in range(2)]
        await kit.tick()
        for job in jobs:
            await kit.tick()
            assert await job.result() == "ran"
        cold = len(noted)
        assert noted.count(False) == noted.count(True) > 0
        for _ in range(3):
            await kit.app.enqueue(gated_module.gated)
            await kit.tick()
        assert len(noted) == cold, "a body in a warm process pays nothing"
