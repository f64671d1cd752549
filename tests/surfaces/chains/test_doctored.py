"""The audit of chains beside doctored ones (`doctorings.py`): what it accepts, and a broken walk that it finds."""

from __future__ import annotations

import pytest

from hanbeon.surfaces.chains import walk, walker
from hanbeon.surfaces.chains.vocabulary import Direction, StepOutcome
from hanbeon.surfaces.chains.walk import Cursor
from tests.surfaces.chains.chain_kit import ChainKit, job, ran


async def test_verify_accepts_deleted_engine_jobs(chain_kit: ChainKit) -> None:
    """Steps outlive the engine's jobs, which retention deletes first."""
    chain = await chain_kit.chain(job("a"), job("b", "fail"))
    await chain_kit.run(chain)
    await chain_kit.kit.clock.advance(chain_kit.app.settings.retention + 1)
    await chain_kit.kit.prune()
    assert await chain_kit.app.jobs(queue="chains") == []
    assert await chain_kit.findings() == []


async def test_verify_finds_an_undo_that_the_walk_skips(chain_kit: ChainKit, monkeypatch: pytest.MonkeyPatch) -> None:
    """It knows the walk by rules of its own: a mistake in the engine's must not excuse itself."""

    def skip_own_undo(at: Cursor, outcome: StepOutcome | None, length: int) -> Cursor | None:
        found = onward(at, outcome, length)
        turned = at.direction is Direction.FORWARD and found == Cursor(at.place, Direction.BACKWARD)
        return onward(Cursor(at.place, Direction.FORWARD), None, length) if turned else found

    onward = walk.onward
    for module in (walk, walker):
        monkeypatch.setattr(module, "onward", skip_own_undo)
    chain = await chain_kit.chain(job("a"), job("b", "fail"))
    assert ran(await chain_kit.run(chain))[-1][:2] == ("a", "BACKWARD"), "b is not undone"
    assert await chain_kit.findings() == ["broken_walk"]
