"""A desk without an engine behind it."""

from typing import Any, cast

from hanbeon.engine.attempt import Attempt
from hanbeon.executors.port import Call
from hanbeon.tasks.context import Desk
from hanbeon.tasks.task import Task
from tests.engine.attempts import new_attempt


def new_call(task: Task[..., Any], *, max_result_bytes: int = 1024, **arguments: Any) -> tuple[Call, Attempt]:
    attempt = new_attempt()
    return Call(task, arguments, cast(Desk, attempt), max_result_bytes), attempt
