"""References to a task's function: made in one process and resolved in another."""

from __future__ import annotations

import functools
import importlib
import multiprocessing.spawn
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from hanbeon.errors import TaskDefinitionError
from hanbeon.rule import Rule
from hanbeon.tasks.task import Task

MAIN = "__main__"


def main_program(module: str) -> str | None:
    """For a function of `__main__`: the module or file to load instead, as `multiprocessing` does when it spawns."""
    if module != MAIN:
        return None
    main = sys.modules[MAIN]
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name is not None:
        return f"module {spec.name}"
    path = getattr(main, "__file__", None)
    if path is None:
        raise TaskDefinitionError(Rule("program_not_a_file"))
    return f"file {path}"


def load_function(module: str, function: str, main: str | None) -> Callable[..., Any]:
    """Import the module and return the function; once per process."""
    found: Any = importlib.import_module(module) if main is None else _main(main)
    for name in function.split("."):
        found = getattr(found, name)
    if isinstance(found, Task):
        found = found.function
    if not callable(found):
        raise TaskDefinitionError(
            Rule("not_a_task_function", module=module, function=function, kind=type(found).__name__)
        )
    return found  # type: ignore[no-any-return]


@functools.cache
def _main(main: str) -> ModuleType:
    kind, _, name = main.partition(" ")
    # Under the name __mp_main__, so that what stands behind `if __name__ == "__main__"` does not run.
    multiprocessing.spawn.prepare({f"init_main_from_{'name' if kind == 'module' else 'path'}": name})
    return sys.modules[MAIN]
