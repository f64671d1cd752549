"""The URL of an HTTP call: its host is fixed when the task is registered, path and query may take arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from hanbeon.errors import InvalidInput
from hanbeon.outbound.origin import Origin, split_url
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.tasks.template import Template, as_text

# Characters that stay as they are in a path or query; the percent sign too, since filled-in values are quoted already.
_PLAIN = "/?:@!$&'()*+,;=%[]~"


class Url(msgspec.Struct, frozen=True):
    """A URL with placeholders for a job's arguments after the host."""

    origin: Origin
    path: Template
    query: Template | None

    @classmethod
    def of(cls, value: Any, field: str) -> Url:
        if not isinstance(value, str):
            raise InvalidInput(Rule("must_be", what=Rule("url_text"), got=quoted(value)), field=field)
        front = re.split(r"[/?#]", value.partition("://")[2], maxsplit=1)[0]
        if "{" in front or "{" in value.partition("://")[0]:
            raise InvalidInput(Rule("host_placeholder"), field=field)
        origin, rest = split_url(value, field)
        if "#" in value:
            raise InvalidInput(Rule("no_fragment"), field=field)
        path, mark, query = rest.partition("?")
        if _has_dots(path):
            raise InvalidInput(Rule("dot_segments"), field=field)
        return cls(origin, Template(path or "/", field), Template(query, field) if mark else None)

    @property
    def arguments(self) -> list[str]:
        return self.path.arguments + (self.query.arguments if self.query else [])

    def fill(self, values: Mapping[str, Mapping[str, Any]], further: Mapping[str, Any]) -> str:
        """Return path and query for one job, quoted; `further` arguments are appended to the query.

        Path segments that are empty, '.' or '..' are rejected: they would lead to another place than the one meant.
        """
        path = quote(self.path.fill(values, _part_of_path), safe=_PLAIN)
        if _has_dots(path):
            raise InvalidInput(Rule("makes_dot_segments"), field="args")
        query = [] if self.query is None else [quote(self.query.fill(values, _quoted), safe=_PLAIN)]
        query += [f"{_quoted(name)}={_quoted(text)}" for name, value in further.items() for text in _texts(value)]
        return f"{path}?{'&'.join(query)}" if query else path

    def __str__(self) -> str:
        return f"{self.origin}{self.path.text}{f'?{self.query.text}' if self.query else ''}"


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _part_of_path(text: str) -> str:
    if not text:
        raise InvalidInput(Rule("path_segment_empty"), field="args")
    return _quoted(text)


def _has_dots(path: str) -> bool:
    """Some servers take such parts for steps up, also where they or their slashes are quoted, once or twice."""
    return any(part in (".", "..") for part in re.split(r"[/\\]", unquote(unquote(path))))


def _texts(value: Any) -> list[str]:
    """A list repeats the name, None leaves it out."""
    if isinstance(value, list):
        return [as_text(each) for each in value]
    return [] if value is None else [as_text(value)]
