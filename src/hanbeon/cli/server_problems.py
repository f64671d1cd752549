"""Errors of the client as errors of a command: what failed, and what to do about it."""

from __future__ import annotations

import contextlib
from importlib.metadata import version
from typing import Any

import msgspec

from hanbeon.cli.location import SERVER, TOKEN, TOKEN_FILE, ServerAddress
from hanbeon.client import (
    AsyncClient,
    ClientError,
    NotAllowed,
    NotAuthenticated,
    Problem,
    TooMany,
    UnexpectedAnswer,
    Unreachable,
)
from hanbeon.client.flow import Flow, NoResponse, Request, Response, Send
from hanbeon.errors import HanbeonError, Kind, Unavailable
from hanbeon.rule import Rule
from hanbeon.settings import masked

_KINDS = {404: Kind.NOT_FOUND, 405: Kind.UNAVAILABLE, 409: Kind.CONFLICT, 412: Kind.CONFLICT, 429: Kind.UNAVAILABLE}


class ServerRefusal(HanbeonError):
    """The server refused the request, with a code of its own."""

    def __init__(self, message: str, code: str, kind: Kind, field: str | None = None, rule: Rule | None = None) -> None:
        self.code, self.kind, self.field = code, kind, field  # type: ignore[misc]  # of this error, not of its class
        self.rule = rule
        super().__init__(message)


async def command_error(error: ClientError, address: ServerAddress, client: AsyncClient) -> HanbeonError:
    """Return the error that the command reports instead."""
    url = masked(address.url)
    match error:
        case NotAuthenticated():
            remedy = (
                f"{url} requires a token; set {TOKEN}, or {TOKEN_FILE} to a file that contains it"
                if address.token is None
                else f"{url} does not accept the token; check {TOKEN} or the token file: it may be revoked"
            )
            return ServerRefusal(
                f"{remedy} (`hanbeon token create` beside the database makes one)", error.code, Kind.INVALID
            )
        case NotAllowed() if address.token is not None:
            remedy = "reading requires a token of scope read, acting one of scope admin"
            return ServerRefusal(f"{error.detail}; {remedy}", error.code, Kind.INVALID)
        case NotAllowed() | TooMany():
            return ServerRefusal(error.detail, error.code, Kind.UNAVAILABLE)
        case Problem(code="no_such_path") | Problem(code="wrong_method") | UnexpectedAnswer():
            return Unavailable(await _other_server(error, url, client))
        case Problem():
            kind = _KINDS.get(error.status, Kind.INVALID if error.status < 500 else Kind.UNAVAILABLE)
            return ServerRefusal(error.detail, error.code, kind, error.field, error.rule)
        case Unreachable():
            reason = masked(str(error))
            return Unavailable(Rule("server_unreachable", reason=reason, variable=SERVER))
        case _:
            return Unavailable(Rule("server_failed", url=url, error=error))


async def _other_server(error: ClientError, url: str, client: AsyncClient) -> Rule:
    """Tell a server of another release from something that is no server of Hanbeon."""
    own = version("hanbeon")
    with contextlib.suppress(ClientError):
        theirs = await client._transport.run(_version())
        if theirs is not None and theirs != own:
            return Rule("server_of_another_release", url=url, theirs=theirs, own=own)
        if theirs is not None:
            return Rule("server_not_understood", url=url, error=error)
    return Rule("no_server", url=url, variable=SERVER)


def _version() -> Flow[str | None]:
    came: Response | NoResponse = yield Send(Request("GET", "/healthz"))
    if isinstance(came, NoResponse) or came.status != 200:
        return None
    try:
        said: Any = msgspec.json.decode(came.body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    found = said.get("version")
    return found if isinstance(found, str) else None
