"""Routes of the operations: authenticate, read the request, call the service, write the response."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine, Iterable
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hanbeon.domain.access import ALLOWED, Need
from hanbeon.domain.actor import acting
from hanbeon.domain.event_cursor import event_id
from hanbeon.events.follower import Follower
from hanbeon.server.context import ServerContext
from hanbeon.server.file_download import FileDownload
from hanbeon.server.middleware import HEAD_ONLY
from hanbeon.server.push.sse import EventStream
from hanbeon.server.request import ApiRequest, NoFields, Principal
from hanbeon.server.upload import respond_to_upload
from hanbeon.surfaces import schema
from hanbeon.surfaces.operation import Channel, Operation
from hanbeon.surfaces.schema import ChannelQuery
from hanbeon.surfaces.stored_file import StoredFile
from hanbeon.surfaces.validation import given_fields

_LOOKS = (Need.NOTHING, Need.READ)
Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]


def operation_routes(
    context: ServerContext, surface: str, service: object, operations: Iterable[Operation]
) -> list[Route]:
    return [_route(each, _endpoint(context, surface, service, each)) for each in operations]


def _route(operation: Operation, endpoint: Endpoint) -> Route:
    route = Route(operation.path, endpoint, methods=[operation.method])
    if operation.acts and route.methods is not None:
        route.methods.discard("HEAD")  # Its senders, such as previews of links, mean to change nothing.
    return route


def _endpoint(context: ServerContext, surface: str, service: object, operation: Operation) -> Endpoint:
    method = getattr(service, operation.call)
    max_bytes = context.app.settings.max_request_bytes

    async def endpoint(http: Request) -> Response:
        return await context.database_watch.run(answer(http))

    async def answer(http: Request) -> Response:
        http.state.quiet = operation.quiet
        if operation.acts and http.scope.get(HEAD_ONLY):
            raise HTTPException(405)
        principal = await context.authenticator.admit(http, operation.need, acts=operation.acts)
        http.state.user = principal.user
        request = ApiRequest(http, principal, max_bytes)

        async def respond(*first: Any) -> Response:
            arguments = [*first, *(request.parameter(name) for name in operation.parameters)]
            keywords = await _fields(request, operation)
            if request.seed is not None:
                # Without a key, nothing can exist under these ids yet.
                keywords["new_id"] = request.new_id
            if operation.http:
                keywords["http"] = http
            if operation.by:
                keywords["by"] = principal.user
            if operation.checks_version:
                keywords["expected"] = request.expected_version()
            with _recorded(operation, principal, surface, http):
                result = await method(*arguments, **keywords)
            if isinstance(result, schema.Result) and principal.scope not in ALLOWED[Need.ADMIN]:
                result = result.for_readers()
            return response_of(operation, result, http)

        if operation.upload is not None:
            return await respond_to_upload(request, getattr(service, operation.upload), context.idempotency, respond)
        if operation.polled:
            # A user who may not see all gets another answer.
            key = (http.url.path, http.url.query, principal.scope in ALLOWED[Need.ADMIN])
            return await context.shared_reads.get(key, respond)
        if operation.creates:
            return await context.idempotency.once(request, respond, stored=not operation.secret)
        return await respond()

    return endpoint


def _recorded(
    operation: Operation, principal: Principal, surface: str, http: Request
) -> contextlib.AbstractContextManager[None]:
    """Record what an operation changes as done by this principal."""
    if operation.need in _LOOKS:
        return contextlib.nullcontext()
    admin = principal.scope in ALLOWED[Need.ADMIN]
    return acting(principal.user, "rest", f"{surface}.{operation.call}", http.url.path, admin=admin)


async def _fields(request: ApiRequest, operation: Operation) -> dict[str, Any]:
    """The fields of the query and of the body that the client sent."""
    kind: Any = operation.request
    if operation.in_query or kind is None:
        return given_fields(request.query(kind or operation.query or NoFields))
    query: Any = request.query(operation.query or NoFields)
    return given_fields(query) | given_fields(await request.json(kind, optional=operation.body_optional))


def response_of(operation: Operation, result: Any, http: Request) -> Response:
    """The response to a result of the service, which may be a response already."""
    if isinstance(result, Response):
        return result
    if isinstance(result, StoredFile):
        return FileDownload(result)
    status = next(iter(operation.responses), 200)
    if operation.accepted is not None and getattr(result, operation.accepted):
        status = 202
    if status == 204:
        return Response(status_code=status)
    headers = {}
    if operation.versioned:
        headers["ETag"] = f'"{result.version}"'
    if operation.location is not None:
        parameters = {name: quote(str(value), safe="") for name, value in http.path_params.items()}
        headers["Location"] = operation.location.format(result=result, **parameters)
    body = result if operation.part is None else getattr(result, operation.part)
    if operation.wrap is not None:
        body = {operation.wrap: body}
    return Response(msgspec.json.encode(body), status, headers, media_type="application/json")


Follow = Callable[[ApiRequest], Coroutine[Any, Any, AbstractContextManager[Follower]]]


def follow_of(context: ServerContext, service: object, channel: Channel) -> Follow:
    """Return a function that opens a channel for a request."""
    method = getattr(service, channel.call)

    async def follow(request: ApiRequest) -> AbstractContextManager[Follower]:
        keywords = given_fields(request.query(ChannelQuery))
        seen = request.http.headers.get("last-event-id")
        if seen is not None:
            # A browser that reconnects sends the last id that it saw, with the query it began with.
            event_id(seen, context.app.store.incarnation, "Last-Event-ID")
            keywords["after"] = seen
        if channel.by:
            keywords["by"] = request.principal.user
        arguments = [request.parameter(name) for name in channel.parameters]
        found: AbstractContextManager[Follower] = await method(context.broadcast, *arguments, **keywords)
        return found

    return follow


def sse_route(context: ServerContext, channel: Channel, follow: Follow) -> Route:
    async def endpoint(http: Request) -> Response:
        principal = await context.authenticator.admit(http, channel.need)
        http.state.user = principal.user
        request = ApiRequest(http, principal)
        return EventStream(context, channel, request, await follow(request))

    return Route(channel.sse, endpoint, methods=["GET"])
