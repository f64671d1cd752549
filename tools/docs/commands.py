"""docs/commands.md, generated from the commands."""

from __future__ import annotations

from typing import Any

from typer.main import get_command

from hanbeon.cli.program import program
from tools.docs.markdown import table

PATH = "commands.md"
SOURCE = "src/hanbeon/cli"


_PAGE = """# Commands

`hanbeon --help` lists the commands, `hanbeon COMMAND --help` explains one, and `hanbeon --version` prints
the version. Exit codes are in [errors.md](errors.md#exit-codes-of-the-command-line). Settings come from
the environment and from hanbeon.toml ([configuration.md](configuration.md#settings)); an option overrides
both.

`hanbeon --install-completion` makes the shell complete commands, options, choices, and the names of
queues, tasks, schedules and offices. The names come from the database that the command would use
(`--database`, `--config`, the environment), and tasks also from `hanbeon.toml`. If the database does not
respond within a second, no names are offered. Names that a shell would not take literally are not offered;
schedules and offices with such names are completed by their id.
{sections}"""


def render() -> str:
    group: Any = get_command(program)
    sections = (_section(f"hanbeon {name}", command) for name, command in group.commands.items())
    return _PAGE.format(sections="".join(sections))


def _section(name: str, command: Any) -> str:
    """Render a command with its table, or a group as the sections of its commands."""
    if hasattr(command, "commands"):
        return "".join(_section(f"{name} {each}", inner) for each, inner in command.commands.items())
    rows = [(f"`{_spelling(each)}`", _explanation(each)) for each in command.params if _is_shown(each)]
    meaning = " ".join(command.help.split())
    return f"\n## {name}\n\n{meaning}\n\n" + table(("option", "meaning"), rows)


def _is_shown(parameter: Any) -> bool:
    return parameter.name != "help" and not getattr(parameter, "hidden", False)


def _spelling(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = parameter.metavar or parameter.name.upper()
        return f"{name if parameter.required else f'[{name}]'}{'...' if parameter.nargs == -1 else ''}"
    names = [*parameter.opts, *parameter.secondary_opts]
    return ", ".join(names) if parameter.is_flag else f"{names[0]} {parameter.metavar}"


def _explanation(parameter: Any) -> str:
    words = [parameter.help or ""]
    if parameter.param_type_name == "option" and parameter.required:
        words.append("Required.")
    if parameter.show_default and parameter.default not in (None, False, [], ()):
        words.append(f"By default {parameter.default}.")
    return " ".join(words)
