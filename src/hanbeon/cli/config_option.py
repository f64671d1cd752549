"""`--config FILE`, an option of every command that uses a database: the `hanbeon.toml` to use."""

from __future__ import annotations

import functools
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.main import get_command

if TYPE_CHECKING:
    from hanbeon.settings import Settings

_DATABASE_OPTIONS = {"database", "app"}
_WITHOUT_FILE = {"demo"}
_OF_THE_FILE = {"secrets"}
"""Groups whose commands use the file and no database."""
_WITHOUT_DATABASE = {"export-worker"}
"""Commands that use the file and no database."""
_named: ContextVar[Path | None] = ContextVar("config", default=None)


def with_config(command: Any, *, needed: bool = False) -> Any:
    """Add the option to a command that uses a database or only the file, or to all such commands of a group.

    It is not a parameter of each function: no command uses it except to open its database.
    """
    for inner in getattr(command, "commands", {}).values():
        with_config(inner, needed=command.name in _OF_THE_FILE)
    names = [parameter.name for parameter in command.params]
    if (
        needed
        or command.name in _WITHOUT_DATABASE
        or (_DATABASE_OPTIONS & set(names) and command.name not in _WITHOUT_FILE)
    ):
        place = max((names.index(name) for name in _DATABASE_OPTIONS & set(names)), default=-1) + 1
        command.params.insert(place, _option())
    return command


@functools.cache
def _option() -> Any:
    carrier = typer.Typer(add_completion=False)
    carrier.command()(_carry)
    return next(parameter for parameter in get_command(carrier).params if parameter.name == "config")


def _remember(path: Path | None) -> Path | None:
    _named.set(path)
    return path


def _carry(
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="The hanbeon.toml to use; by default $HANBEON_CONFIG, or the one in the current folder.",
            callback=_remember,
            expose_value=False,
            show_default=False,
        ),
    ] = None,
) -> None:
    """A command whose only purpose is to let typer build the option."""


def named_file() -> Path | None:
    """Return the file that `--config` names, if it was given."""
    return _named.get()


def settings_here(**given: Any) -> Settings:
    """Return a command's settings from its options, the environment and the file, in this order of precedence."""
    from hanbeon.config.file import find, load_settings_of
    from hanbeon.settings import load_settings

    path = find(named_file())
    return load_settings(None if path is None else load_settings_of(path), **given)
