"""A task that is a program: its command line, fixed when it is registered, with placeholders for a job's arguments."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from hanbeon.domain.retry import FailureType
from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.tasks.options import check_names, named_texts, one_of, switch, texts, types_by_name
from hanbeon.tasks.parameters import Parameters
from hanbeon.tasks.result_codes import SUCCESS, ResultCodes, meanings
from hanbeon.tasks.task import COMMAND, Task, TaskOptions, defining
from hanbeon.tasks.template import Template

# Enough for a program to be found and to print. Secrets of the worker, its database URL first, are not passed on.
PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
# As <sysexits.h> has them, which shells, mail systems and many programs follow.
EXIT_CODES = {
    0: ResultCodes(SUCCESS),
    64: ResultCodes(FailureType.INVALID),
    65: ResultCodes(FailureType.INVALID),
    66: ResultCodes(FailureType.INVALID),
    69: ResultCodes(FailureType.TEMPORARY),
    75: ResultCodes(FailureType.TEMPORARY),
    77: ResultCodes(FailureType.PERMISSION_ERROR),
    78: ResultCodes(FailureType.INVALID),
}
_ANY_OTHER = ResultCodes(FailureType.ERROR)
DESCRIPTOR, STDOUT = "descriptor", "stdout"
SAID, TEXT, JSON = "said", "text", "json"
_SHOWN = 60


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A command line, its environment, and how its output and exit code are interpreted."""

    executor: ClassVar[str] = COMMAND

    argv: tuple[Template, ...]
    params: Mapping[str, Any] | None = None
    cwd: str | None = None
    env: Mapping[str, str] = {}
    pass_env: tuple[str, ...] = PASSED_ON
    stdin: bool = True
    exit_codes: Mapping[int, ResultCodes] = {}
    protocol: str = DESCRIPTOR
    result: str = SAID

    @classmethod
    def of(cls, argv: Any, options: Mapping[str, Any]) -> Command:
        """Parse a command line and its options."""
        line = texts(argv, "command")
        if not line or not line[0]:
            raise InvalidInput(Rule("command_empty"), field="command")
        templates = tuple(Template(each, f"command[{place}]") for place, each in enumerate(line))
        if not templates[0].is_constant:
            raise InvalidInput(Rule("program_placeholder"), field="command[0]")
        given = dict(options)
        for field, read in _READ.items():
            if field in given:
                given[field] = read(given[field], field)
        return cls(argv=templates, **given)

    def signature(self, task: str) -> Parameters:
        return Parameters(task, self.params, [name for each in self.argv for name in each.arguments])

    def meaning(self, exit_code: int) -> ResultCodes:
        return self.exit_codes.get(exit_code) or EXIT_CODES.get(exit_code, _ANY_OTHER)

    def __str__(self) -> str:
        line = shlex.join(each.text for each in self.argv)
        return f"the command {line if len(line) <= _SHOWN else line[:_SHOWN] + '…'}"


def _env(value: Any, field: str) -> dict[str, str]:
    env = named_texts(value, field)
    for name, text in env.items():
        if not name or "=" in name or "\x00" in name + text:
            raise InvalidInput(Rule("environment_name"), field=f"{field}.{name}")
    return env


def _folder(value: Any, field: str) -> str:
    if not isinstance(value, str) or not value or "\x00" in value:
        raise InvalidInput(Rule("must_be", what=Rule("folder_path"), got=quoted(value)), field=field)
    return value


_READ: dict[str, Any] = {
    "params": types_by_name,
    "cwd": _folder,
    "env": _env,
    "pass_env": texts,
    "stdin": switch,
    "exit_codes": lambda value, field: meanings(value, field, 0, 255),
    "protocol": lambda value, field: one_of(value, (DESCRIPTOR, STDOUT), field),
    "result": lambda value, field: one_of(value, (SAID, TEXT, JSON), field),
}


def command_task(name: str, argv: Any, options: Mapping[str, Any]) -> Task[..., Any]:
    """Build a task that runs a program; `options` are those of the command and of its jobs together."""
    with defining(name):
        check_names(options, {*_READ, *TaskOptions.__struct_fields__} - {"executor"}, "a command")
        command = Command.of(argv, {field: value for field, value in options.items() if field in _READ})
    return Task(name, command, TaskOptions.of(name, {k: v for k, v in options.items() if k not in _READ}))
