"""Groups of commands."""

from __future__ import annotations

from typing import Any

import typer

# Plain help: rich would take longer to load than most commands take to run.
STYLE: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False}


def group(help_text: str) -> typer.Typer:
    """Return a group without commands."""
    return typer.Typer(help=help_text, no_args_is_help=True, add_completion=False, **STYLE)
