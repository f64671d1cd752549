"""Arguments of commands: those of a task are parsed, job ids and names of queues are checked."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from hanbeon.domain.job import is_id
from hanbeon.errors import InvalidInput, NotFound
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.tasks.options import did_you_mean

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


def check_ids(ids: Iterable[str]) -> None:
    """Reject the first string that cannot be an id, before anything is done to the other jobs."""
    for job_id in ids:
        if not is_id(job_id):
            raise InvalidInput(
                Rule("must_be", what=Rule("printed_uuid"), got=quoted(job_id)),
                field="id",
            )


def check_queue(name: str, known: Iterable[str], remedy: str = "; `hanbeon queues` lists them") -> None:
    """Reject a queue that does not exist, and suggest the nearest one that does."""
    known = list(known)
    if name not in known:
        raise NotFound(f"there is no queue {quoted(name)}{did_you_mean(name, known) or remedy}")
