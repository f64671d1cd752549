"""Operations of a surface as data: what server, client, docs and tests derive routes, calls and pages from.

Nothing here imports a server, a service or a store, because clients read it too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.access import Need
from hanbeon.errors import HanbeonError

_PARAMETERS = re.compile(r"\{(\w+)\}")
_IN_QUERY = ("GET", "DELETE")


class Operation(NamedTuple):
    """One request, answered by the method `call` of the surface's service.

    The method gets the path's parameters by position and the fields that the client sent as keywords. Besides, where
    the operation says so: `new_id` (`creates`), `by` (`by`) and `expected` (`versioned`, when it changes something).
    """

    method: str
    path: str
    need: Need
    call: str
    summary: str
    request: type[msgspec.Struct] | None = None
    """Fields of the query for GET and DELETE, of a JSON body otherwise."""
    body_optional: bool = False
    """No body is the same as an empty object."""
    responses: Mapping[int, Any] = {}
    """Schemas by status; the first is the usual one."""
    errors: tuple[type[HanbeonError], ...] = ()
    """In addition to those that every request of its form may meet."""
    creates: bool = False
    """Takes an Idempotency-Key: a repeated request gets the first answer."""
    versioned: bool = False
    """The answer has an ETag, made from `version` of the result; a change takes it as If-Match."""
    by: bool = False
    """The service records who sent the request."""
    part: str | None = None
    """Attribute of the result that is the body of the answer; by default all of it."""
    accepted: str | None = None
    """Attribute of the result: where it is true, the status is 202."""
    location: str | None = None
    """Path of what was created, with parameters of the path and fields of the result.

    A parameter comes before a field of the same name, which is then `{result.name}`.
    """
    links: Mapping[str, str] = {}
    """Parameters of paths below its own, as OpenAPI runtime expressions."""
    media: str = "application/json"
    quiet: bool = False
    """Polled by machines; logged at debug level only."""

    @property
    def parameters(self) -> list[str]:
        """Names of the path's parameters, in order."""
        return _PARAMETERS.findall(self.path)

    @property
    def in_query(self) -> bool:
        return self.method in _IN_QUERY


class Channel(NamedTuple):
    """A stream of events, by WebSocket and as server-sent events (SSE).

    The method `call` of the service gets the broadcast, the path's parameters and `after`.
    """

    websocket: str
    sse: str
    need: Need
    call: str
    summary: str
    errors: tuple[type[HanbeonError], ...] = ()
