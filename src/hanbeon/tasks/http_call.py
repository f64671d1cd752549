"""A task that is an HTTP call: method, URL and headers, fixed when it is registered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote, unquote

import msgspec

from hanbeon.clock import seconds_of
from hanbeon.domain.retry import failure_type_of
from hanbeon.errors import InvalidInput
from hanbeon.outbound.origin import Origin, split_url
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.tasks.http_headers import headers
from hanbeon.tasks.options import check_names, one_of, switch, types_by_name
from hanbeon.tasks.parameters import Parameters
from hanbeon.tasks.result_codes import SUCCESS, ResultCodes, meanings
from hanbeon.tasks.task import HTTP, Task, TaskOptions, defining
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


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
BODY, QUERY, NOTHING = "body", "query", "nothing"
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
# Unlike one's own work, the response of another server may never come.
TIMEOUT_SECONDS = 60.0
CONNECT_SECONDS = 10.0
REDIRECTS, _MOST_REDIRECTS = 5, 20
_SHOWN = 60


class HttpCall(msgspec.Struct, frozen=True, kw_only=True):
    """A request, and how its response is interpreted."""

    executor: ClassVar[str] = HTTP

    url: Url
    method: str = "POST"
    headers: Mapping[str, str] = {}
    send: str = BODY
    keep_answer: bool = True
    status_codes: Mapping[int, ResultCodes] = {}
    redirects: int = REDIRECTS
    connect_timeout: float = CONNECT_SECONDS
    allow_private: bool = False
    params: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, value: Any, params: Mapping[str, Any] | None) -> HttpCall:
        """Parse a table with the URL and the options of the call."""
        if not isinstance(value, Mapping):
            raise InvalidInput(Rule("must_be", what=Rule("http_table")), field="http")
        check_names(value, CALL, "an HTTP call")
        if "url" not in value:
            raise InvalidInput(Rule("url_missing"), field="url")
        given = {field: _READ[field](each, field) for field, each in value.items()}
        given.setdefault("send", BODY if given.get("method", "POST") in _WITH_BODY else QUERY)
        return cls(**given, params=params)

    def signature(self, task: str) -> Parameters:
        return Parameters(task, self.params, self.url.arguments)

    def meaning(self, status: int) -> ResultCodes:
        if status in self.status_codes:
            return self.status_codes[status]
        if 200 <= status < 300:
            return ResultCodes(SUCCESS)
        return ResultCodes(failure_type_of(status))

    @property
    def line(self) -> str:
        """Method and URL for messages: with placeholders, not with arguments."""
        line = f"{self.method} {self.url}"
        return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"

    def __str__(self) -> str:
        return f"the HTTP call {self.line}"


def _redirects(value: Any, field: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_REDIRECTS:
        return value
    raise InvalidInput(
        Rule("must_be", what=Rule("redirect_count", high=_MOST_REDIRECTS), got=quoted(value)), field=field
    )


def _seconds(value: Any, field: str) -> float:
    seconds = seconds_of(value, field) if isinstance(value, str) else value
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds <= 3600:
        return float(seconds)
    raise InvalidInput(Rule("must_be", what=Rule("http_timeout"), got=quoted(value)), field=field)


_READ: dict[str, Any] = {
    "url": Url.of,
    "method": lambda value, field: one_of(value.upper() if isinstance(value, str) else value, METHODS, field),
    "headers": headers,
    "send": lambda value, field: one_of(value, (BODY, QUERY, NOTHING), field),
    "keep_answer": switch,
    "status_codes": lambda value, field: meanings(value, field, 100, 599),
    "redirects": _redirects,
    "connect_timeout": _seconds,
    "allow_private": switch,
}
CALL = frozenset(_READ)
_OF_TASK = frozenset({"params", *TaskOptions.__struct_fields__}) - {"executor", "memory"}


def http_task(name: str, call: Any, options: Mapping[str, Any]) -> Task[..., Any]:
    """Build a task that is an HTTP call, from the table of the call and the options of its jobs."""
    with defining(name):
        check_names(options, _OF_TASK, "an HTTP task")
        params = types_by_name(options["params"], "params") if "params" in options else None
        spec = HttpCall.of(call, params)
    rest = {"timeout": TIMEOUT_SECONDS, **{field: value for field, value in options.items() if field != "params"}}
    return Task(name, spec, TaskOptions.of(name, rest))


def http_task_at(name: str, url: str, options: Mapping[str, Any]) -> Task[..., Any]:
    """Like `http_task`, with the options of the call and of its jobs together."""
    with defining(name):
        check_names(options, CALL | _OF_TASK, "an HTTP task")
    call = {field: value for field, value in options.items() if field in CALL}
    return http_task(name, {"url": url, **call}, {k: v for k, v in options.items() if k not in CALL})
