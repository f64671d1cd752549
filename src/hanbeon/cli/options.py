"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        help="sqlite:///file or postgresql://…; by default what HANBEON_DATABASE_URL says.",
        show_default=False,
    ),
]
