"""The part of docs/options.md about HTTP calls."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from hanbeon.tasks.http_call import HttpCall

_MEANINGS = {
    "url": "Where to: http or https. Placeholders only in path and query; no user, no password.",
    "method": "`GET`, `HEAD`, `POST`, `PUT`, `PATCH`, `DELETE` or `OPTIONS`.",
    "headers": "Headers of your own; `${NAME}` in a value is a variable of the worker's environment.",
    "send": "Where the arguments go: `body` (JSON), `query`, or `nothing` for only those in the address.",
    "keep_answer": "Whether the body of the answer is the result; otherwise that is `null`.",
    "status_codes": 'What statuses mean: `"success"`, a failure type, or `{type = …, permanent = true}`.',
    "redirects": "How many are followed, 0 to 20.",
    "connect_timeout": "Seconds to find and reach the server, the handshake of TLS apart; up to an hour.",
    "allow_private": "Whether it may go to addresses that are not of the public internet.",
    "params": "Its parameters by name: a JSON type, or `{type = …, default = …}`. None: any may be given.",
}
_DEFAULTS = {
    "headers": "none",
    "send": "by the method",
    "status_codes": "[the table](executors.md#http-calls)",
    "params": "none",
    "url": "must be given",
}
SECTION = """## Of an HTTP call

`app.http(name, url, …)` takes these and those of a task but `executor` and `memory`; its `timeout` is 60 unless it says
otherwise: [how calls are made](executors.md#http-calls).

"""


def http_rows() -> Iterator[tuple[str, str, str]]:
    for field in msgspec.structs.fields(HttpCall):
        default = _DEFAULTS.get(field.name) or f"`{_plain(field.default)}`"
        yield f"`{field.name}`", default, _MEANINGS[field.name]


def _plain(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value
