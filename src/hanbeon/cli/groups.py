"""Commands that have commands of their own."""

from __future__ import annotations

from typing import Any

import typer

# Plain help: rich would take longer to load than most commands take to run.
STYLE: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False}


def group(what: str) -> typer.Typer:
    """`what` is said of it in the help."""
    return typer.Typer(help=what, no_args_is_help=True, add_completion=False, **STYLE)
