"""`--config FILE`, which every command has that works on a database: which `hanbeon.toml` it goes by."""

from __future__ import annotations

from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.main import get_command

if TYPE_CHECKING:
    from hanbeon.settings import Settings

_OF_THOSE_WITH = {"database", "app"}
_ON_THEIR_OWN = {"demo"}
_named: ContextVar[Path | None] = ContextVar("config", default=None)


def with_config(command: Any) -> Any:
    """The command, with the option if it works on a database; a group with all of its commands.

    Not a parameter of each command: it is the same for all, and none does anything with it but open its database.
    """
    for inner in getattr(command, "commands", {}).values():
        with_config(inner)
    names = [parameter.name for parameter in command.params]
    if _OF_THOSE_WITH & set(names) and command.name not in _ON_THEIR_OWN:
        behind = max(names.index(name) for name in _OF_THOSE_WITH & set(names)) + 1
        command.params.insert(behind, _option())
    return command


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
            help="The hanbeon.toml to go by; by default what HANBEON_CONFIG names, or the one in the current folder.",
            callback=_remember,
            expose_value=False,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Carries the option, for typer to make it."""


def named_file() -> Path | None:
    """The file that `--config` names."""
    return _named.get()


def settings_here(**given: Any) -> Settings:
    """The settings of a command: its options, the environment, the file."""
    from hanbeon.config.file import find, load_settings_of
    from hanbeon.settings import load_settings

    path = find(named_file())
    return load_settings(None if path is None else load_settings_of(path), **given)
