"""Many jobs in a row leave nothing behind: no process, no descriptor, no memory."""

import asyncio

import psutil
import pytest

from hanbeon.domain.outcome import Raised, Returned
from tests.executors import bodies
from tests.executors.bench import Bench, until

_JOBS = 500


@pytest.mark.slow
async def test_many_jobs_leave_nothing_behind(bench: Bench) -> None:
    """Some crash, some leave a dead child, some are replaced; the same number each round."""

    async def rounds(count: int) -> None:
        for number in range(count):
            assert await bench.run(bodies.add, a=number) == Returned(str(number))
            if number % 10 == 0:
                assert await bench.run(bodies.unwaited) == Returned()
            if number % 50 == 0:
                assert isinstance(await bench.run(bodies.end, how="segfault"), Raised)

    await rounds(100)
    before = await _footprint(bench)
    await rounds(_JOBS - 100)
    after = await _footprint(bench)
    assert after[:3] == before[:3], "descriptors here and in the guardian, processes"
    assert after[3] - before[3] < 4_000_000, "memory of the guardian and of this process"
    zombies = [each for each in psutil.Process().children(recursive=True) if each.status() == psutil.STATUS_ZOMBIE]
    assert zombies == []


async def _footprint(bench: Bench) -> tuple[int, int, int, int]:
    await until("one process is left", lambda: len(bench.work()) == 1)
    await asyncio.sleep(0)
    own = psutil.Process()
    memory = own.memory_info().rss + bench.guardian.memory_info().rss
    return own.num_fds(), bench.guardian.num_fds(), len(bench.guardian.children(recursive=True)), memory
