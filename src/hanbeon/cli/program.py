"""The program: loads commands on demand and turns errors into messages and exit codes."""

from __future__ import annotations

import functools
import sys
import traceback
from collections.abc import Iterator, MutableMapping, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from hanbeon.cli import exits
from hanbeon.cli.catalogue import MODULES, NAMES, OF_SURFACES, TITLE, front_page
from hanbeon.cli.command_words import located, running
from hanbeon.cli.groups import STYLE
from hanbeon.cli.location import with_location
from hanbeon.cli.standard_streams import unwritten
from hanbeon.errors import HanbeonError
from hanbeon.surfaces.surface import load


class _Commands(MutableMapping[str, Any]):
    """The commands by name, each imported when it is first accessed."""

    def __init__(self) -> None:
        self._replaced: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in NAMES:
            raise KeyError(name)
        return self._replaced[name] if name in self._replaced else _load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def __setitem__(self, name: str, command: Any) -> None:
        self._replaced[name] = command

    def __delitem__(self, name: str) -> None:
        del self._replaced[name]


@functools.cache
def _load(name: str) -> Any:
    """Import a command and build it, once: typer takes dozens of milliseconds for a group."""
    noun = name.replace("-", "_")
    reference = OF_SURFACES[name].reference if name in OF_SURFACES else f"hanbeon.cli.{MODULES.get(name, noun)}:{noun}"
    found = load(reference)
    if isinstance(found, typer.Typer):
        group = get_command(found)
        group.name = name
        return with_location(group)
    single = typer.Typer(add_completion=False, **STYLE)
    single.command(name)(found)
    return with_location(get_command(single))


def command_named(name: str) -> Any:
    """The command or group of that name; None if there is none. It is loaded already if it runs."""
    return _load(name) if name in NAMES else None


class Front(TyperGroup):
    """The group of all commands."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        return list(NAMES)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(front_page() + "\n")

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except OSError:
            code = unwritten()
            if code is None:
                raise
            raise typer.Exit(code) from None
        return result


program = typer.Typer(
    cls=Front,
    name="hanbeon",
    help=TITLE,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    **STYLE,
)


def _print_version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        typer.echo(f"hanbeon {version('hanbeon')}")
        raise typer.Exit


@program.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """A durable job scheduler on SQLite or PostgreSQL."""


def run_program(arguments: Sequence[str] | None = None) -> int:
    """Run these arguments, or the process's, and return the exit code.

    A Hanbeon error is printed as one line, a defect as a traceback. Output that could not be written is an error.
    """
    with running(sys.argv[1:] if arguments is None else arguments):
        code = _run(arguments)
    failed = unwritten()
    return failed if failed is not None and code == exits.SOUND else code


def _run(arguments: Sequence[str] | None) -> int:
    try:
        program(arguments, prog_name="hanbeon")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else exits.FAILED
    except HanbeonError as error:
        typer.echo(f"error: {located(error)}", err=True)
        return exits.EXIT_CODES[error.kind]
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except Exception:
        if (code := unwritten()) is not None:
            return code
        traceback.print_exc(file=sys.stderr)
        return exits.DEFECT
    return exits.SOUND
