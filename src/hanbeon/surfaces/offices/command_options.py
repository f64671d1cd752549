"""Arguments and options shared by the office commands, and the settings among them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from hanbeon.cli.completion import names_or_ids
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.surfaces.offices.vocabulary import JobStatus


def _office_names(ctx: typer.Context, incomplete: str) -> list[str]:
    from hanbeon.surfaces.offices.rows import offices

    return names_or_ids(ctx, offices, incomplete)


Office = Annotated[
    str,
    typer.Argument(
        metavar="OFFICE",
        help="The office's id, or its name if it is unique.",
        autocompletion=_office_names,
        show_default=False,
    ),
]
Role = Annotated[str | None, typer.Option(metavar="NAME", help="Only jobs of this role.", show_default=False)]
Item = Annotated[
    str | None,
    typer.Option("--task-id", metavar="TEXT", help="Only jobs of this work item.", show_default=False),
]
Statuses = Annotated[
    list[JobStatus] | None,
    typer.Option("--status", metavar="STATUS", help="Only jobs with this status; may be repeated.", show_default=False),
]


def pair(text: str, field: str) -> tuple[str, str]:
    """Parse `name=value`."""
    from hanbeon.errors import InvalidInput

    name, equals, value = text.partition("=")
    if not (name and equals):
        raise InvalidInput(Rule("must_be", what=Rule("name_and_value"), got=quoted(text)), field=field)
    return name, value


def settings_of(pairs: list[str]) -> dict[str, Any]:
    """Parse `a=1 b.c=null` to {"a": 1, "b": {"c": None}}; a value that is not JSON is text."""
    import msgspec

    settings: dict[str, Any] = {}
    for each in pairs:
        path, text = pair(each, "config")
        try:
            value = msgspec.json.decode(text)
        except msgspec.DecodeError:
            value = text
        name, dot, inner = path.partition(".")
        if dot:
            settings.setdefault(name, {})[inner] = value
        else:
            settings[name] = value
    return settings
