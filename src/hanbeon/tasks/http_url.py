"""The address of an HTTP call: its host is fixed when the task is registered, path and query may take arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from hanbeon.errors import InvalidInput
from hanbeon.outbound.origin import Origin, split_url
from hanbeon.tasks.template import Template, as_text

# What may stand in a path or a query as it is; a percent sign too, since what was filled in is quoted already.
_PLAIN = "/?:@!$&'()*+,;=%[]~"


class Url(msgspec.Struct, frozen=True):
    """An address with places for a job's arguments behind the host."""

    origin: Origin
    path: Template
    query: Template | None

    @classmethod
    def of(cls, told: Any, field: str) -> Url:
        if not isinstance(told, str):
            raise InvalidInput(f"{told!r} does not fit; use text like https://example.org/hook", field=field)
        front = re.split(r"[/?#]", told.partition("://")[2], maxsplit=1)[0]
        if "{" in front or "{" in told.partition("://")[0]:
            raise InvalidInput(
                "no job may choose the host; placeholders stand behind it, in path or query", field=field
            )
        origin, rest = split_url(told, field)
        if "#" in told:
            raise InvalidInput("what stands behind a # is never sent; remove it", field=field)
        path, mark, query = rest.partition("?")
        if _has_dots(path):
            raise InvalidInput("the path has a part that is '.' or '..'; write the path out", field=field)
        return cls(origin, Template(path or "/", field), Template(query, field) if mark else None)

    @property
    def arguments(self) -> list[str]:
        return self.path.arguments + (self.query.arguments if self.query else [])

    def fill(self, values: Mapping[str, Mapping[str, Any]], further: Mapping[str, Any]) -> str:
        """Path and query for one job, quoted; `further` arguments go to the end of the query.

        What would lead to another place than the one meant is refused: nothing, a dot or two as a part of the path.
        """
        path = quote(self.path.fill(values, _part_of_path), safe=_PLAIN)
        if _has_dots(path):
            raise InvalidInput("an argument makes a part of the path '.' or '..', which leads elsewhere", field="args")
        query = [] if self.query is None else [quote(self.query.fill(values, _quoted), safe=_PLAIN)]
        query += [f"{_quoted(name)}={_quoted(text)}" for name, value in further.items() for text in _texts(value)]
        return f"{path}?{'&'.join(query)}" if query else path

    def __str__(self) -> str:
        return f"{self.origin}{self.path.text}{f'?{self.query.text}' if self.query else ''}"


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _part_of_path(text: str) -> str:
    if not text:
        raise InvalidInput("an argument for the path is empty, which leads elsewhere", field="args")
    return _quoted(text)


def _has_dots(path: str) -> bool:
    """Some servers take such parts for steps up, also where they or their slashes are quoted, once or twice."""
    return any(part in (".", "..") for part in re.split(r"[/\\]", unquote(unquote(path))))


def _texts(value: Any) -> list[str]:
    """A list becomes its name several times, nothing becomes nothing."""
    if isinstance(value, list):
        return [as_text(each) for each in value]
    return [] if value is None else [as_text(value)]
