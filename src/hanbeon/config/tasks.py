"""`[tasks.NAME]`: exactly one of `KINDS`, which says what the task runs; the rest of the table are options."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from hanbeon.config.imports import find_function
from hanbeon.config.reader import PartialTable, Reader, field_and_message, parts
from hanbeon.errors import InvalidInput
from hanbeon.quotation import suggested
from hanbeon.rule import Rule
from hanbeon.tasks.command import command_task
from hanbeon.tasks.http_call import CALL, http_task
from hanbeon.tasks.stream_call import stream_task
from hanbeon.tasks.task import Task, TaskOptions

AnyTask = Task[..., Any]
Factory = Callable[[str, Any, Mapping[str, Any], Path], AnyTask]


def read_tasks(value: Any, reader: Reader) -> tuple[AnyTask, ...]:
    """Return every valid task; record all problems of the others."""
    tasks = []
    for name, table in reader.table(value, "tasks").items():
        with reader.at("tasks", name):
            if not isinstance(table, Mapping):
                raise InvalidInput(Rule("task_not_a_table", name=name))
            make = partial(_task, name, reader.folder)
            made = reader.every(("tasks", name), table, make, _VALID, {"params": PartialTable(each="any")})
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


def _choose(kinds: list[str], table: Mapping[str, Any]) -> Rule:
    if kinds:
        return Rule("only_one_kind", kinds=kinds)
    near = next((found for field in table if (found := suggested(field, KINDS))), None)
    *most, last = KINDS
    return Rule("task_kind", kinds=most, last=last, nearest=near)


def _command(name: str, value: Any, options: Mapping[str, Any], folder: Path) -> AnyTask:
    """Build a command. It runs in the file's folder, and a relative `cwd` is resolved there, not in the worker's."""
    if isinstance(value, str):
        raise InvalidInput(Rule("command_not_a_list", example=_as_list(value)), field="command")
    cwd = options.get("cwd", ".")
    if isinstance(cwd, str) and cwd:
        options = {**options, "cwd": str(folder / cwd)}
    return command_task(name, value, options)


def _as_list(line: str) -> str:
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    return msgspec.json.encode(words).decode().replace('","', '", "')


def _http(name: str, value: Any, options: Mapping[str, Any], folder: Path) -> AnyTask:
    """Build an HTTP call. Problems of the call are reported in its inner table."""
    _check_places(value, options)
    try:
        return http_task(name, value, options)
    except InvalidInput as error:
        field, message = field_and_message(error)
        task_fields = {"http", *options, *TaskOptions.__struct_fields__}
        if not field or parts(field)[0] in task_fields:
            raise
        raise InvalidInput(message, field=f"http.{field}") from error


def _check_places(value: Any, options: Mapping[str, Any]) -> None:
    """Check that options of the call are inside its table and those of the task beside it; they are easily confused."""
    task_fields = {"params", *TaskOptions.__struct_fields__}
    for field in options:
        if field not in task_fields and (field in CALL or suggested(field, CALL)):
            raise InvalidInput(Rule("option_of_call", option=field), field=field)
    for field in value if isinstance(value, Mapping) else ():
        if field in task_fields and field not in CALL:
            raise InvalidInput(Rule("option_of_task", option=field), field=f"http.{field}")


def _python(name: str, value: Any, options: Mapping[str, Any], folder: Path) -> AnyTask:
    """Build a task from a function. A task of an App keeps its options there that are not given here."""
    if value is _ANY_FUNCTION:
        TaskOptions.of(name, options)
        # The function is unknown, and so is whether it can run in the given executor.
        return Task(
            name, _nothing, TaskOptions.of(name, {k: v for k, v in options.items() if k not in _EXECUTOR_OPTIONS})
        )
    found = find_function(value, folder, "python")
    if isinstance(found, Task) and found.spec is None:
        options = {**found.options.chosen, **options}
        found = found.function
    if not inspect.isfunction(found):
        raise InvalidInput(Rule("not_a_function_or_task", got=value, kind=type(found).__name__), field="python")
    return Task(name, found, TaskOptions.of(name, options))


def _stream(name: str, value: Any, options: Mapping[str, Any], folder: Path) -> AnyTask:
    """Build a task of a stream; `work` names the function that does it in-process."""
    work = options.get("work")
    if isinstance(work, str):
        work = find_function(work, folder, "work")
    elif work is not None:
        raise InvalidInput(Rule("work_not_a_function"), field="work")
    return stream_task(name, value, work, {k: v for k, v in options.items() if k != "work"})


KINDS: dict[str, Factory] = {"command": _command, "http": _http, "python": _python, "stream": _stream}

_ANY_FUNCTION = object()
_EXECUTOR_OPTIONS = ("executor", "memory")
_VALID = {
    "command": ["true"],
    "http": PartialTable({"url": "https://example.org/"}),
    "python": _ANY_FUNCTION,
    "stream": PartialTable({"name": "any"}),
}


async def _nothing() -> None:
    """Placeholder for a function that could not be found."""
