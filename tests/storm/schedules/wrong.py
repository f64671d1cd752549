"""Classic mistakes of a scheduler, to replace the correct statements; and the correct ones under the same load.

Each widens the window between looking and writing by a pause in the database, and so does `right`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from hanbeon.store.dialect import Postgres
from hanbeon.store.operations import executions
from hanbeon.store.statements import statement
from hanbeon.store.tx import Tx
from hanbeon.surfaces.schedules import fire_rows as fires
from hanbeon.surfaces.schedules import rows as schedules
from tests.storm.wrong import statements_changed, without

_PAUSE = "SELECT pg_sleep(0.02)"
Texts = dict[str, str]


def right() -> Texts:
    return {}


def schedules_without_lock() -> Texts:
    """Wrong: two instances handle the same schedules, and a change comes in between."""
    return {"due_schedules": without("due_schedules", "lock_skip")}


def changes_without_lock() -> Texts:
    """Wrong: what is changed is what was read, not what is there by then."""
    return {"lock_schedule": without("lock_schedule", "lock_schedule")}


def never_moved_on() -> Texts:
    """Wrong: progress is not written with the decision."""
    text = statement("advance_schedules", Postgres)
    moved_on = "considered_to = r.considered_to,"
    assert text.count(moved_on) == 1
    return {"advance_schedules": text.replace(moved_on, "")}


def changed_without_passing_over() -> Texts:
    """Wrong: fires that were due under the old times and not yet handled are forgotten."""
    return {
        "insert_fires": statement("insert_fires", Postgres).rstrip()
        + " WHERE r.reason IS NULL OR r.reason <> 'changed'"
    }


@contextmanager
def in_the_place_of_the_right(texts: Texts) -> Iterator[None]:
    with ExitStack() as undo:
        undo.enter_context(statements_changed({"pause": _PAUSE, **texts}))
        for module, name in ((fires, "make"), (executions, "make"), (schedules, "_pass_over")):
            undo.enter_context(patch.object(module, name, _paused(getattr(module, name))))
        yield


def _paused(operation: Any) -> Any:
    async def after_a_pause(tx: Tx, *args: Any) -> Any:
        await tx.fetch("pause")
        return await operation(tx, *args)

    return after_a_pause
