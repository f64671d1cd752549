"""Many jobs in a row leave nothing behind: no process, no descriptor, no memory."""

import asyncio

import psutil

from hanbeon.domain.outcome import Raised, Returned
from hanbeon.executors.executor import StopCause
from hanbeon.tasks.command import command_task
from tests.executors import bodies
from tests.executors.workbench import Bench, CommandBench, until
from tests.storm.sizes import both_sizes, part

_JOBS = 500


@both_sizes
async def test_many_jobs_leave_nothing_behind(bench: Bench, share: float) -> None:
    """Some crash, some leave a dead child, some are replaced; the same number each round."""

    async def rounds(count: int) -> None:
        for number in range(count):
            assert await bench.run(bodies.add, a=number) == Returned(str(number))
            if number % 10 == 0:
                assert await bench.run(bodies.unwaited) == Returned()
            if number % 50 == 0:
                assert isinstance(await bench.run(bodies.end, how="segfault"), Raised)

    await rounds(part(100, share, least=11))
    before = await _footprint(bench)
    await rounds(part(_JOBS - 100, share))
    after = await _footprint(bench)
    assert after[:3] == before[:3], "descriptors here and in the supervisor, processes"
    assert after[3] - before[3] < 20_000_000, "memory of the supervisor and of this process"
    zombies = [each for each in psutil.Process().children(recursive=True) if each.status() == psutil.STATUS_ZOMBIE]
    assert zombies == []


@both_sizes
async def test_a_thousand_commands_leave_nothing_behind(commands: CommandBench, share: float) -> None:
    """Some fail, some leave something running, some are stopped; the same number each round."""
    work = command_task("work", ["sh", "-c", "echo out; echo err >&2; cat >&3; exit $1", "sh", "{args.code}"], {})
    left = command_task("work", ["sh", "-c", "sleep 3600 & sleep 3600 & echo"], {})

    async def rounds(count: int) -> None:
        for number in range(count):
            failing = number % 10 == 0
            outcome = await commands.run(work, code=int(failing), result=number)
            assert isinstance(outcome, Raised), "an invalid message: two keys"
            if number % 20 == 0:
                assert await commands.run(left) == Returned()
            if number % 20 == 10:
                started = commands.start(left)
                started.stop(StopCause.CANCELLED)
                await started.within()

    await rounds(part(100, share, least=11))
    before = await _footprint(commands, left=0)
    await rounds(part(900, share))
    after = await _footprint(commands, left=0)
    assert after[:3] == before[:3], "descriptors here and in the supervisor, processes"
    assert after[3] - before[3] < 20_000_000, "memory of the supervisor and of this process"
    zombies = [each for each in psutil.Process().children(recursive=True) if each.status() == psutil.STATUS_ZOMBIE]
    assert zombies == []


async def _footprint(bench: Bench | CommandBench, left: int = 1) -> tuple[int, int, int, int]:
    await until("others have ended", lambda: len(bench.work()) == left and len(bench.session_supervisors) == left)
    await asyncio.sleep(0)
    own = psutil.Process()
    memory = own.memory_info().rss + bench.supervisor.memory_info().rss
    return own.num_fds(), bench.supervisor.num_fds(), len(bench.supervisor.children(recursive=True)), memory
