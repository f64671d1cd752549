"""The program of a process that enqueues the same causes as others do: one way after the other, on command."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from hanbeon import App, HanbeonError, JobRequest
from tests.storm.answers import answer_all
from tests.storm.tasks import make_app

ONE_HOUR = 3600
WAYS: dict[str, dict[str, Any]] = {
    "id": {},
    "idempotency_key": {},
    "skip": {"on_conflict": "skip"},
    "refuse": {"on_conflict": "refuse"},
    "replace": {"on_conflict": "replace_pending", "delay": ONE_HOUR},
}


def cause_id(number: int) -> str:
    """The id that every process chooses for this cause."""
    return f"0199{number:04x}-0000-7000-8000-000000000000"


def request(app: App, way: str, number: int) -> JobRequest[Any]:
    """Return the request for the job of one cause."""
    cause = f"{way} {number}"
    made = app.tasks.get("tiny").call(journal="-").set(queue="causes", work_item=cause, **WAYS[way])
    if way == "id":
        return made.set(id=cause_id(number))
    return made.set(idempotency_key=cause) if way == "idempotency_key" else made.set(unique_key=cause)


async def one_by_one(app: App, way: str, causes: int) -> list[list[Any]]:
    """Enqueue them in the same order as all processes: every one is a collision."""
    answers = []
    for number in range(causes):
        try:
            job = await app.enqueue(request(app, way, number))
            answers.append([number, job.id, job.created, None])
        except HanbeonError as error:
            answers.append([number, None, False, error.code])
    return answers


async def in_a_batch(app: App, way: str, causes: int) -> list[list[Any]]:
    """Enqueue them in one batch, in an order of this process's own: without care, processes would deadlock."""
    numbers = random.sample(range(causes), causes)
    try:
        jobs = await app.enqueue_many([request(app, way, number) for number in numbers])
    except HanbeonError as error:
        return [[number, None, False, error.code] for number in numbers]
    return [[number, job.id, job.created, None] for number, job in zip(numbers, jobs, strict=True)]


Shape = Callable[[App, str, int], Awaitable[list[list[Any]]]]
SHAPES: dict[str, Shape] = {function.__name__: function for function in (one_by_one, in_a_batch)}


async def enqueue(url: str, shape: str, causes: int) -> None:
    """Enqueue in each way that is asked for, when it is asked for."""
    async with make_app(url) as app:
        await app.counts()
        await answer_all(lambda way: SHAPES[shape](app, way, causes))


if __name__ == "__main__":
    asyncio.run(enqueue(sys.argv[1], sys.argv[2], int(sys.argv[3])))
