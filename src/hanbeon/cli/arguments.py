"""Arguments of commands: those of a task are parsed, job ids and names of queues are checked."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from hanbeon.domain.bounds import PAGE_ROWS
from hanbeon.domain.job import is_id
from hanbeon.errors import InvalidInput, NotFound
from hanbeon.quotation import quoted, suggested
from hanbeon.rule import Rule

if TYPE_CHECKING:
    from hanbeon.surfaces.installation import Installation

_SHORTENED = re.compile(r"(?P<first>[0-9a-f][0-9a-f-]{3,35})((…|\.\.\.?)(?P<last>[0-9a-f-]{1,32}))?")
_PAGES_MOST = 100
_SYNTAX = "name=text, name:=JSON, one JSON object, or - to read that from stdin"


def parse_arguments(words: Sequence[str]) -> dict[str, Any]:
    """Return arguments by name. `count=3` is text and `count:=3` a number: text never turns into a number by chance."""
    if len(words) == 1 and (words[0] == "-" or words[0].lstrip().startswith("{")):
        return _object(sys.stdin.read() if words[0] == "-" else words[0])
    arguments: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        is_json = name.endswith(":")
        name = name.removesuffix(":")
        if not (name and equals):
            raise InvalidInput(Rule("must_be", what=Rule("argument", syntax=_SYNTAX), got=quoted(word)), field="args")
        if name in arguments:
            raise InvalidInput(Rule("argument_given_twice", name=quoted(name)), field="args")
        arguments[name] = _decoded(text, name) if is_json else text
    return arguments


def _object(text: str) -> dict[str, Any]:
    found = _decoded(text, "arguments")
    if not isinstance(found, dict):
        raise InvalidInput(Rule("must_be", what=Rule("argument", syntax=_SYNTAX), got=quoted(text)), field="args")
    return found


def _decoded(text: str, name: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise InvalidInput(
            Rule("argument_not_json", name=name, got=quoted(text), error=error, syntax=_SYNTAX), field="args"
        ) from error


def json_of(field: str, text: str) -> Any:
    """Return the value of an option that is given as JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise InvalidInput(Rule("must_be", what=Rule("json_value"), got=quoted(text)), field=field) from error


async def whole_ids(installation: Installation, given: Iterable[str]) -> list[str]:
    """Return the ids of jobs that are given whole, by their first characters, or shortened as the page shows them.

    Rejects the first that is none or means several, before anything is done to the other jobs.
    """
    return list(dict.fromkeys([each if is_id(each) else await _whole_id(installation, each) for each in given]))


async def _whole_id(installation: Installation, given: str) -> str:
    shortened = _SHORTENED.fullmatch(given)
    if shortened is None:
        raise InvalidInput(Rule("must_be", what=Rule("printed_uuid"), got=quoted(given)), field="id")
    found: list[str] = []
    cursor: str | None = None
    for _ in range(_PAGES_MOST):
        page = await installation.engine.jobs(id=shortened["first"], cursor=cursor, limit=PAGE_ROWS)
        found += [each.id for each in page.items if each.id.endswith(shortened["last"] or "")]
        cursor = page.next_cursor
        if len(found) > 1 or cursor is None:
            break
    if len(found) == 1 and cursor is None:
        return found[0]
    if not found and cursor is None:
        raise NotFound(Rule("no_id_begins", got=quoted(given)))
    raise InvalidInput(Rule("id_of_several", got=quoted(given), found=found[:2]), field="id")


def check_queue(name: str, known: Iterable[str], remedy: str = "`hanbeon queues` lists them") -> None:
    """Reject a queue that does not exist, and suggest the nearest one that does."""
    known = list(known)
    if name not in known:
        raise NotFound(Rule("queue_not_listed", queue=quoted(name), nearest=suggested(name, known), remedy=remedy))
