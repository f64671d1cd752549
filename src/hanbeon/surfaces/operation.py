"""Operations of a surface as data: server, client, docs and tests derive routes, calls and pages from them.

Nothing here imports a server, a service or a store, because clients read it too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.access import Need
from hanbeon.errors import HanbeonError

_PARAMETERS = re.compile(r"\{(\w+)\}")
LOCAL = "local"
"""The user of calls without authentication."""
_IN_QUERY = ("GET", "DELETE")


class ClientCall(NamedTuple):
    """How clients call an operation, where the rules do not say it.

    By the rules an operation on `/api/offices` belongs to `client.offices`, one on `/api/offices/{id}` or below it to
    `client.office(id)`. On these two paths GET, POST, PATCH and DELETE are `list` or `get`, `create`, `change` and
    `delete`; elsewhere the name is that of the service's method.
    """

    resource: str | None = None
    method: str | None = None
    body: str | None = None
    """Name of the one argument that is the whole body; by default every field is an argument."""
    part: str | None = None
    """Attribute of the response that is returned; by default all of it."""
    ended: Callable[[Any], bool] | None = None
    """Tells if the resource has ended: gives clients a method `wait` beside this one."""


class Operation(NamedTuple):
    """One request, handled by the method `call` of the surface's service.

    The method gets the path's parameters by position and the fields that the client sent as keywords. Besides, where
    the operation says so: `new_id` (`creates`), `by` (`by`) and `expected` (of If-Match).
    """

    method: str
    path: str
    need: Need
    call: str
    summary: str
    request: type[msgspec.Struct] | None = None
    """Fields of the query for GET and DELETE, of a JSON body otherwise."""
    query: type[msgspec.Struct] | None = None
    """Fields of the query beside a JSON body."""
    body_optional: bool = False
    """The body may be omitted, which means an empty object."""
    responses: Mapping[int, Any] = {}
    """Schemas by status; the first is the usual one."""
    errors: tuple[type[HanbeonError], ...] = ()
    """Errors in addition to those that every request of this kind may get."""
    creates: bool = False
    """Takes an Idempotency-Key: a repeated request gets the first response."""
    secret: bool = False
    """The response holds a secret, and so is not stored for repeats: a repeated request gets an error that says so."""
    versioned: bool = False
    """The response has an ETag, made from the result's `version`; PATCH takes it as If-Match."""
    takes_version: bool = False
    """Takes If-Match although its response has no version."""
    http: bool = False
    """The method gets the HTTP request as `http`: for what no schema can say, such as cookies."""
    by: bool = False
    """The service gets the user's name: to record who sent the request, or to answer its owner alone."""
    idempotent: bool = False
    """Sent again, it changes nothing more. Reading always is, and creating is under its key."""
    result: type[msgspec.Struct] | None = None
    """The service's result, where the response is not all of it: has `part`, and `version` or `accepted`."""
    part: str | None = None
    """Attribute of the result that is the response body; by default the whole result."""
    wrap: str | None = None
    """Key of the result in the response body; by default the result is the body."""
    accepted: str | None = None
    """Attribute of the result: where it is true, the status is 202."""
    location: str | None = None
    """Path of what was created, with `{result.…}` and parameters of the operation's path."""
    links: Mapping[str, str] = {}
    """Parameters of paths below its own, as OpenAPI runtime expressions."""
    upload: str | None = None
    """The service's method that receives the file `file` of a form: an asynchronous context manager. Its value is the
    first argument of `call`."""
    downloads: Sequence[str] = ()
    """Media types of the file that is the result; it is sent in parts, or in the ranges that are asked for."""
    media: str = "application/json"
    acts: bool = False
    """A GET that changes something: never cached, no HEAD, and refused to pages of other sites."""
    quiet: bool = False
    """Polled by machines; logged at debug level only."""
    polled: bool = False
    """A GET that open pages repeat: requests for the same at the same time share one read and its response."""
    client: ClientCall = ClientCall()

    @property
    def parameters(self) -> list[str]:
        """Names of the path's parameters, in order."""
        return _PARAMETERS.findall(self.path)

    @property
    def checks_version(self) -> bool:
        """True if it takes If-Match."""
        return self.takes_version or (self.versioned and self.method == "PATCH")

    @property
    def in_query(self) -> bool:
        return self.method in _IN_QUERY

    @property
    def repeatable(self) -> bool:
        """True if a client may send it again when no response came."""
        return self.creates or self.idempotent or self.method == "GET"


class Channel(NamedTuple):
    """A stream of events, by WebSocket and as server-sent events (SSE).

    The method `call` of the service gets the broadcast, the path's parameters and `after`.
    """

    websocket: str
    sse: str
    need: Need
    call: str
    summary: str
    event: type[msgspec.Struct]
    """One message. A client leaves out those whose `type` is not among the field's."""
    errors: tuple[type[HanbeonError], ...] = ()
    by: bool = False
    """The method also gets the user's name: everybody follows their own."""

    @property
    def parameters(self) -> list[str]:
        """Names of the paths' parameters, in order; both have the same."""
        return _PARAMETERS.findall(self.sse)
