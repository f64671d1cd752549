"""`hanbeon secrets`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from hanbeon.cli.groups import group
from hanbeon.cli.options import Json

if TYPE_CHECKING:
    from hanbeon.outbound.secrets import Secrets

secrets = group("Check the secrets that hanbeon.toml declares.")


@secrets.command("list")
def list_(json: Json = False) -> None:
    """List the declared secrets: their names, and the variable or file of each."""
    from hanbeon.cli.output import print_json, print_table

    rows = [(name, str(source)) for name, source in sorted(_declared().sources.items())]
    if json:
        print_json({"secrets": [{"name": name, "source": source} for name, source in rows]})
    else:
        print_table(("secret", "source"), rows)


@secrets.command()
def check(json: Json = False) -> None:
    """Report which declared secrets can be read here, by this user, without their values.

    The exit code is not 0 if one cannot be read.
    """
    from hanbeon.cli import exits
    from hanbeon.cli.output import print_json, print_table
    from hanbeon.errors import Kind

    declared = _declared()
    problems = {name: declared.problem(name) for name in declared.names}
    rows = [(name, str(declared.sources[name]), error and str(error)) for name, error in problems.items()]
    if json:
        print_json(
            {"secrets": [{"name": name, "source": source, "problem": problem} for name, source, problem in rows]}
        )
    else:
        print_table(("secret", "source", "problem"), [(name, source, problem or "") for name, source, problem in rows])
    if any(problems.values()):
        raise typer.Exit(exits.EXIT_CODES[Kind.UNAVAILABLE])


def _declared() -> Secrets:
    from hanbeon.cli.location import named_file
    from hanbeon.config.file import find, load_secrets_of
    from hanbeon.outbound.secrets import Secrets

    path = find(named_file())
    return Secrets({} if path is None else load_secrets_of(path))
