"""The HTTP calls section of docs/jobs.md."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from hanbeon.tasks.http_call import HttpCall

_MEANINGS = {
    "url": "The URL: http or https. Placeholders only in path and query; no user, no password.",
    "method": "`GET`, `HEAD`, `POST`, `PUT`, `PATCH`, `DELETE` or `OPTIONS`.",
    "headers": "Additional headers; `${NAME}` in a value is a variable of the worker's environment.",
    "send": "How arguments are sent: `body` (JSON), `query`, or `nothing` but those in the URL.",
    "keep_answer": "Keep the body of the response as the result; otherwise the result is `null`.",
    "status_codes": 'The meaning of statuses: `"success"`, a failure type, or `{type = …, permanent = true}`.',
    "redirects": "The most redirects to follow, 0 to 20.",
    "connect_timeout": "Seconds to resolve and reach the server, without the TLS handshake; up to an hour.",
    "allow_private": "Allow addresses outside the public internet.",
    "params": "Its parameters by name: a JSON type, or `{type = …, default = …, pattern = …, choices = […]}`. "
    "None: any are accepted.",
}
_DEFAULTS = {
    "headers": "none",
    "send": "by the method",
    "status_codes": "[the table](executors.md#http-calls)",
    "params": "none",
    "url": "required",
}
SECTION = """## Of an HTTP call

`app.http(name, url, …)` takes these and the options of a task except `executor`, `memory`,
`soft_timeout`, `retry_on` and `no_retry_on`. Its default `timeout`
is 60: [how calls are made](executors.md#http-calls).

"""


def http_rows() -> Iterator[tuple[str, str, str]]:
    for field in msgspec.structs.fields(HttpCall):
        default = _DEFAULTS.get(field.name) or f"`{_plain(field.default)}`"
        yield f"`{field.name}`", default, _MEANINGS[field.name]


def _plain(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value
