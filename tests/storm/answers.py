"""Programs that do the same thing at the same moment, on command: each line of input is answered with one of JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tests.processes.owner import end_with_the_owner
from tests.processes.process import READY, Process
from tests.storm.sizes import TIMEOUT

_DONE = "done "


async def answer_all(answer: Callable[[str], Awaitable[Any]]) -> None:
    """Report that this process is ready, then answer each line of its input until its owner is gone."""
    loop, asked = asyncio.get_running_loop(), asyncio.Queue[str]()

    def ask(line: str) -> None:
        loop.call_soon_threadsafe(asked.put_nowait, line)

    end_with_the_owner(ask)
    print(READY, flush=True)
    while True:
        print(f"{_DONE}{json.dumps(await answer(await asked.get()))}", flush=True)


def ask_all(processes: Sequence[Process], line: str) -> list[Any]:
    """Write the line to all of them, then return the lists that they answer as one."""
    before = [process.output.count(_DONE) for process in processes]
    for process in processes:
        process.say(line)
    return [each for process, count in zip(processes, before, strict=True) for each in _answer(process, count)]


def _answer(process: Process, before: int) -> list[Any]:
    """Return its next answer, after `before` earlier ones."""
    answers = iter(range(before + 1))

    def fits(line: str) -> bool:
        return line.startswith(_DONE) and next(answers) == before

    answer: list[Any] = json.loads(process.wait_for(fits, _DONE, TIMEOUT).removeprefix(_DONE))
    return answer
