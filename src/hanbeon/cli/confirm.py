"""Confirmation of actions that cannot be undone."""

from __future__ import annotations

import sys

import typer

from hanbeon.cli import exits
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule


def confirm(question: str, *, yes: bool) -> None:
    """Return if the user agrees, now or with `--yes`; end the command otherwise."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidInput(Rule("not_confirmed", question=question), field="yes")
    try:
        agreed = typer.confirm(question, err=True)
    except typer.Abort:  # Ctrl-C or end of input.
        typer.echo(err=True)
        raise typer.Exit(exits.INTERRUPTED) from None
    if not agreed:
        typer.echo("nothing was changed", err=True)
        raise typer.Exit(exits.FAILED)
