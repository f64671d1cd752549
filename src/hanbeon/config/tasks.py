"""`[tasks.NAME]`: what a task runs is one of `KINDS`; the rest of its table are options."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from hanbeon.config.imports import find_function
from hanbeon.config.reader import Reader, field_and_message, parts
from hanbeon.config.recover import PartialTable
from hanbeon.errors import InvalidInput
from hanbeon.tasks.command import command_task
from hanbeon.tasks.http_call import CALL, http_task
from hanbeon.tasks.options import did_you_mean
from hanbeon.tasks.task import Task, TaskOptions

AnyTask = Task[..., Any]
Factory = Callable[[str, Any, Mapping[str, Any], Path], AnyTask]


def read_tasks(told: Any, reading: Reader) -> tuple[AnyTask, ...]:
    """Every task that can be made; of each of the others, all that is wrong with it."""
    tasks = []
    for name, table in reading.table(told, "tasks").items():
        with reading.at("tasks", name):
            if not isinstance(table, Mapping):
                raise InvalidInput(f'it is no table; write [tasks.{name}] and, below it, command = ["program"]')
            make = partial(_task, name, reading.folder)
            made = reading.every(("tasks", name), table, make, _FITTING, {"params": PartialTable(each="any")})
            if made is not None:
                tasks.append(made)
    return tuple(tasks)


def _task(name: str, folder: Path, table: Mapping[str, Any]) -> AnyTask:
    kinds = [kind for kind in KINDS if kind in table]
    if len(kinds) != 1:
        raise InvalidInput(_choose(kinds, table))
    kind = kinds[0]
    options = {field: value for field, value in table.items() if field != kind}
    return KINDS[kind](name, table[kind], options, folder)


def _choose(kinds: list[str], table: Mapping[str, Any]) -> str:
    if kinds:
        return f"it has {' and '.join(kinds)}; a task is one of them"
    near = next((hint for field in table if (hint := did_you_mean(field, KINDS))), "")
    *most, last = KINDS
    return f"it does not say what to run; give it {', '.join(most)} or {last}{near}"


def _command(name: str, told: Any, options: Mapping[str, Any], folder: Path) -> AnyTask:
    """A program. It runs in the file's folder, and a relative `cwd` is one of that: not where a worker was started."""
    if isinstance(told, str):
        raise InvalidInput(f"no shell reads it; write a list: {_as_list(told)}", field="command")
    cwd = options.get("cwd", ".")
    if isinstance(cwd, str) and cwd:
        options = {**options, "cwd": str(folder / cwd)}
    return command_task(name, told, options)


def _as_list(line: str) -> str:
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    return msgspec.json.encode(words).decode().replace('","', '", "')


def _http(name: str, told: Any, options: Mapping[str, Any], folder: Path) -> AnyTask:
    """A call. What does not fit in it is in its own table."""
    _check_places(told, options)
    try:
        return http_task(name, told, options)
    except InvalidInput as error:
        field, message = field_and_message(error)
        of_the_task = {"http", *options, *TaskOptions.__struct_fields__}
        if not field or parts(field)[0] in of_the_task:
            raise
        raise InvalidInput(message, field=f"http.{field}") from error


def _check_places(told: Any, options: Mapping[str, Any]) -> None:
    """What is said of the call stands in its table, what is said of its jobs beside it; both are easily confused."""
    of_the_task = {"params", *TaskOptions.__struct_fields__}
    for field in options:
        if field not in of_the_task and (field in CALL or did_you_mean(field, CALL)):
            raise InvalidInput(f"it is said of the call: http = {{ …, {field} = … }}", field=field)
    for field in told if isinstance(told, Mapping) else ():
        if field in of_the_task and field not in CALL:
            raise InvalidInput(f"it is said of the task; write it beside http, as {field} = …", field=f"http.{field}")


def _python(name: str, told: Any, options: Mapping[str, Any], folder: Path) -> AnyTask:
    """A function. One that is a task of some App already keeps the options that it has there and not here."""
    if told is _ANY_FUNCTION:
        TaskOptions.of(name, options)
        # Where it would run is not known, and so not whether it can.
        return Task(name, _nothing, TaskOptions.of(name, {k: v for k, v in options.items() if k not in _WHERE_IT_RUNS}))
    found = find_function(told, folder, "python")
    if isinstance(found, Task) and found.spec is None:
        options = {**found.options.chosen, **options}
        found = found.function
    if not inspect.isfunction(found):
        raise InvalidInput(f"{told} is {type(found).__name__}; name a function or a task", field="python")
    return Task(name, found, TaskOptions.of(name, options))


KINDS: dict[str, Factory] = {"command": _command, "http": _http, "python": _python}

_ANY_FUNCTION = object()
_WHERE_IT_RUNS = ("executor", "memory")
_FITTING = {"command": ["true"], "http": PartialTable({"url": "https://example.org/"}), "python": _ANY_FUNCTION}


async def _nothing() -> None:
    """Stands for a function that is not there."""
