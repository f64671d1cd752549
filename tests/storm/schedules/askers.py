"""The program of a process that requests what only one may get, through Python and over HTTP at once, on command.

Each line of its input is a JSON object: `{"run": task}`, or `{"create": body}`. It answers with the statuses it got.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable
from typing import Any

from hanbeon.errors import ExecutionUnfinished, ScheduleNameTaken
from hanbeon.surfaces.schedules.service import Schedules
from tests.server.client import Client, serving
from tests.storm.answers import answer_all
from tests.storm.schedules.tasks import make_app


async def _by_python(asked: Awaitable[Any]) -> int:
    try:
        await asked
    except (ExecutionUnfinished, ScheduleNameTaken):
        return 409
    return 201


async def _by_http(client: Client, path: str, body: Any) -> int:
    answer = await client.post(path, body)
    assert answer.status == 201 or answer.code in (ExecutionUnfinished.code, ScheduleNameTaken.code), answer
    return answer.status


async def _ask(schedules: list[Schedules], client: Client, request: dict[str, Any]) -> list[int]:
    """Send all requests at once, each over its own connection."""
    if "run" in request:
        options = {"args": {"label": "by hand", "journal": os.devnull}}
        path, body = f"/api/tasks/{request['run']}/executions", options
        python = [_by_python(each.run(request["run"], options["args"])) for each in schedules]
    else:
        path, body = "/api/schedules", request["create"]
        fields = {("task" if name == "task_id" else name): value for name, value in body.items()}
        python = [_by_python(each.create(**fields)) for each in schedules]
    return list(await asyncio.gather(*python, *(_by_http(client, path, body) for _ in schedules)))


async def ask(url: str) -> None:
    app = make_app(url)
    async with app, app.twin() as other, serving(app) as client:
        schedules = [Schedules(app), Schedules(other)]
        await answer_all(lambda request: _ask(schedules, client, json.loads(request)))


if __name__ == "__main__":
    asyncio.run(ask(sys.argv[1]))
