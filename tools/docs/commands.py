"""docs/commands.md, from the commands themselves."""

from __future__ import annotations

from typing import Any

from typer.main import get_command

from hanbeon.cli.program import program
from tools.docs.markdown import table

PATH = "commands.md"
SOURCE = "src/hanbeon/cli"


_PAGE = """# Commands

`hanbeon --help` lists them, `hanbeon COMMAND --help` explains one, `hanbeon --version` says which release this is. Exit
codes are in [errors.md](errors.md#exit-codes-of-the-command-line). Settings come from the environment
([settings.md](settings.md)); an option wins over them.
{sections}"""


def render() -> str:
    group: Any = get_command(program)
    return _PAGE.format(sections="".join(_section(name, command) for name, command in group.commands.items()))


def _section(name: str, command: Any) -> str:
    rows = [(f"`{_spelling(option)}`", _explanation(option)) for option in command.params if option.name != "help"]
    return f"\n## hanbeon {name}\n\n{command.help}\n\n" + table(("option", "meaning"), rows)


def _spelling(option: Any) -> str:
    return option.opts[0] if option.is_flag else f"{option.opts[0]} {option.metavar}"


def _explanation(option: Any) -> str:
    return f"{option.help}{' Required.' if option.required else ''}"
