"""docs/errors.md, generated from the error classes and the exit codes."""

from __future__ import annotations

from hanbeon import errors
from hanbeon.cli.exits import EXIT_CODES, MEANINGS
from hanbeon.errors import HanbeonError, Kind
from hanbeon.server.problems import REFUSALS, STATUS, STATUS_OF_CODE
from tools.docs.markdown import first_line, table

PATH = "errors.md"
SOURCE = "src/hanbeon/errors.py, src/hanbeon/cli/exits.py or src/hanbeon/server/problems.py"


_PAGE = """# Errors

Every error that Hanbeon raises on purpose is a `HanbeonError` with a stable `code`, a `kind`, and a message
that names the remedy. `field` names the invalid input, if there is one. Catch the class
(`from hanbeon.errors import UniqueKeyTaken`) or check the code; messages may change. `rule` says to
programs what was broken; only errors of the kind `failed`, whose text is that of the work, have none. It is
a code and the values that the message names, over HTTP
`"rule": {{"code": "must_be", "what": {{"code": "integer_from_to", "low": 1, "high": 5}}, "got": "'x'"}}`. Both
languages of the dashboard are rendered from it, by the texts in
[rules.json](../src/hanbeon/rules.json) and in the `rules.json` of each surface.

{errors}
## Refused by a server

A [server](server.md) returns an error with the HTTP status above. These errors occur only over HTTP.

{refusals}
## Exit codes of the command line

An error of this page ends a command with one line, `error: …`, on stderr and the exit code of its kind.

{exits}"""


def render() -> str:
    rows = (
        (f"`{error.code}`", f"`{error.__name__}`", f"`{error.kind.value}`", _status(error), first_line(error.__doc__))
        for error in _errors()
    )
    refusals = ((f"`{code}`", str(each.status), each.title) for code, each in REFUSALS.items())
    exits = ((str(number), _kinds(number), meaning) for number, meaning in MEANINGS.items())
    return _PAGE.format(
        errors=table(("code", "class", "kind", "HTTP", "meaning"), rows),
        refusals=table(("code", "HTTP", "meaning"), refusals),
        exits=table(("exit code", "kind", "meaning"), exits),
    )


def _errors() -> list[type[HanbeonError]]:
    """Return the error classes in the order of their definition, those of the surfaces last."""
    return [each for each in errors.all_errors() if each is not HanbeonError]


def _status(error: type[HanbeonError]) -> str:
    return str(STATUS_OF_CODE.get(error.code, STATUS[error.kind]))


def _kinds(number: int) -> str:
    return ", ".join(f"`{kind.value}`" for kind in Kind if EXIT_CODES[kind] == number)
