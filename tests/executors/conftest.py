"""An executor for processes that leaves nothing behind, and what bodies of other processes tell."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.executors.workbench import Bench, CommandBench
from tests.storm.journal import Journal


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    made = Bench()
    yield made
    await made.executor.close()


@pytest.fixture
async def commands() -> AsyncIterator[CommandBench]:
    made = CommandBench()
    yield made
    await made.executor.close()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")
