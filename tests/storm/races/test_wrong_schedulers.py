"""The judge of schedules detects classic mistakes, and accepts the correct code under the same load.

A given run shows a mistake only by chance, so those runs belong to the long tests; what each lock is
for is shown for certain, by two connections, in `tests/surfaces/schedules/test_instances.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import asyncpg
import pytest

from hanbeon.errors import IdAlreadyUsed
from tests.storm.journal import Journal
from tests.storm.schedules import wrong
from tests.storm.schedules.storm import Storm, assert_fits, storm
from tests.storm.sizes import LONG, TIMEOUT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(TIMEOUT)]

FOUND = (AssertionError, asyncpg.UniqueViolationError, IdAlreadyUsed, IndexError)
"""The last is what a change runs into whose schedule was deleted meanwhile, for want of a lock."""
ROUNDS = 8
INSTANCES = 3
KINDS = {"alone": 4, "crowds": 2}
REFUSED = "never came to this: all that was due|duplicate key|already used for job"
"""Errors from the constraints of the database: then nothing proceeds, but nothing is duplicated either."""
SETTINGS = {"misfire_grace": 1.0, "shutdown_grace": 0.5, "poll": 0.5}


@pytest.mark.chaos
@pytest.mark.skipif(not LONG, reason="found by chance: HANBEON_CHAOS=long")
@pytest.mark.parametrize(
    ("way", "finding"),
    [
        pytest.param(wrong.schedules_without_lock, f"was made from|was decided|{REFUSED}", id="schedules without lock"),
        pytest.param(
            wrong.changes_without_lock, f"was decided|is lost|out of range|{REFUSED}", id="changes without lock"
        ),
        pytest.param(wrong.never_moved_on, REFUSED, id="never moved on"),
        pytest.param(wrong.changed_without_passing_over, "is lost", id="nothing passed over"),
    ],
)
async def test_a_wrong_way_is_found(
    way: Callable[[], wrong.Texts], finding: str, postgres_url: str, tmp_path: Path
) -> None:
    with wrong.in_the_place_of_the_right(way()):
        async with storm(postgres_url, Journal(tmp_path / "journal"), random.Random(1), **KINDS) as run:
            with pytest.raises(FOUND, match=finding):
                await _rounds(run, ROUNDS)


async def test_the_right_way_withstands_the_same_strain(postgres_url: str, tmp_path: Path) -> None:
    with wrong.in_the_place_of_the_right(wrong.right()):
        async with storm(postgres_url, Journal(tmp_path / "journal"), random.Random(1), **KINDS) as run:
            await _rounds(run, 1, TIMEOUT / 4)


async def _rounds(run: Storm, count: int, patience: float = 10) -> None:
    """Make changes for some seconds at a time, by instances with their own connections, and judge after each round."""
    async with AsyncExitStack() as stack:
        for number in range(INSTANCES):
            twin = await stack.enter_async_context(run.app.twin())
            twin.settings = twin.settings.model_copy(update=SETTINGS)
            await stack.enter_async_context(twin.worker(name=f"instance {number}"))
        await run.begin(12)
        for _ in range(count):
            await run.resume_all()
            await run.act_for(4, pause=0.005)
            assert_fits(await run.end(patience), run.shared)
