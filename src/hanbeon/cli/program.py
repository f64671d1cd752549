"""The program: its commands, and what an error looks like at the end of it."""

from __future__ import annotations

import sys
import traceback
from typing import Annotated

import typer

from hanbeon.cli import exits
from hanbeon.cli.demo.command import demo
from hanbeon.cli.migrate import migrate
from hanbeon.cli.verify import verify
from hanbeon.cli.worker import worker
from hanbeon.errors import HanbeonError

program = typer.Typer(
    name="hanbeon",
    help="A durable job scheduler on SQLite or PostgreSQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (migrate, worker, verify, demo):
    program.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
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


def run_program() -> int:
    """Run the command of this process; its exit code. Our own errors are one line, a defect is a traceback."""
    try:
        program()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else exits.FAILED
    except HanbeonError as error:
        typer.echo(f"error: {error}", err=True)
        return exits.EXIT_CODES[error.kind]
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except Exception:
        traceback.print_exc(file=sys.stderr)
        return exits.DEFECT
    return exits.SOUND
