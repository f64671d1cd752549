"""Operations of the chains of the workload. They write into a journal outside the database."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from hanbeon.tasks.context import current as _current
from hanbeon.testing.simulation.world import current_node as _current_node


class _Step(NamedTuple):
    at: float
    node: str
    chain: int
    run: int
    direction: str
    place: int
    job: str
    fence: int


_JOURNAL: list[_Step] = []


def _note(direction: str, arguments: dict[str, Any]) -> float:
    node = _current_node.get()
    assert node is not None
    job = _current()._backend.job
    given = json.loads(job.args)
    place = (direction, arguments["n"])
    _JOURNAL.append(_Step(node.world.now, node.name, given["queue_id"], given["run"], *place, job.id, job.fence))
    return node.world.draw()


def forward(arguments: dict[str, Any], context: dict[str, Any]) -> int:
    if _note("F", arguments) < arguments.get("fail", 0):
        raise RuntimeError("forward fails")
    context["done"] = [*context.get("done", []), arguments["n"]]
    return int(arguments["n"])


def backward(arguments: dict[str, Any], context: dict[str, Any]) -> int:
    if _note("B", arguments) < arguments.get("undo_fails", 0):
        raise RuntimeError("backward fails")
    context["undone"] = [*context.get("undone", []), arguments["n"]]
    return -int(arguments["n"])
