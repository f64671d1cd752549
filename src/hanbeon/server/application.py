"""The ASGI application: routes of all surfaces, and every error as a problem (RFC 9457)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp

from hanbeon.errors import HanbeonError
from hanbeon.server import dashboard, docs_pages, health, session
from hanbeon.server.context import ServerContext
from hanbeon.server.middleware import RequestMiddleware
from hanbeon.server.problems import Refused, internal_error, problem_of
from hanbeon.server.push.websocket import websockets
from hanbeon.server.routes import follow_of, operation_routes, sse_route
from hanbeon.surfaces.stored_json import passed_through
from hanbeon.surfaces.surface import load


def application(context: ServerContext) -> ASGIApp:
    """Build the application: health checks, the operations of every surface, and the API description."""
    operations, channels = [*dashboard.OPERATIONS, *health.OPERATIONS, *session.OPERATIONS], []
    routes = operation_routes(context, "server", dashboard.Dashboard(), dashboard.OPERATIONS)
    routes += operation_routes(context, "server", health.Health(context), health.OPERATIONS)
    routes += operation_routes(context, "server", session.Sessions(context), session.OPERATIONS)
    for surface in context.app.surfaces:
        service = load(surface.service)(context.app, context.worker, stored_json=passed_through)
        operations += surface.operations
        for channel in surface.channels:
            follow = follow_of(context, service, channel)
            channels.append((channel, follow))
            # Before the operations: `/api/jobs/events` is no job.
            routes += [sse_route(context, channel, follow), Route(channel.websocket, _not_a_websocket)]
        routes += operation_routes(context, surface.name, service, surface.operations)
    described = docs_pages.DocsPages(operations, [channel for channel, _ in channels])
    routes += operation_routes(context, "server", described, docs_pages.OPERATIONS)
    api = Starlette(routes=routes)
    api.router.redirect_slashes = False
    _add_error_handlers(api)
    quiet = frozenset(operation.path for operation in operations if operation.quiet)
    push = websockets(context, channels)
    return RequestMiddleware(api, push, context.counts.count, context.app.store.tracer, quiet)


async def _not_a_websocket(request: Request) -> Response:
    raise Refused("not_a_websocket", "connect to it with ws://", {"Upgrade": "websocket", "Connection": "Upgrade"})


def _add_error_handlers(api: Starlette) -> None:
    async def known(request: Request, error: Any) -> Response:
        return problem_of(error)

    async def rejected(request: Request, error: Any) -> Response:
        response: Response = error.response()
        return response

    async def unrouted(request: Request, error: Any) -> Response:
        if error.status_code == 405:
            methods = ", ".join(_methods(api.routes, request))
            return Refused("wrong_method", f"use {methods}", {"Allow": methods}).response()
        return Refused("no_such_path", "see /docs for all paths").response()

    async def unexpected(request: Request, error: Any) -> Response:
        return internal_error().response()

    api.add_exception_handler(HanbeonError, known)
    api.add_exception_handler(Refused, rejected)
    api.add_exception_handler(HTTPException, unrouted)
    api.add_exception_handler(Exception, unexpected)


def _methods(routes: Sequence[BaseRoute], request: Request) -> list[str]:
    """Return the methods of the first path that matches: `…/jobs/cancel-all` is not a job."""
    matching = [
        route for route in routes if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE
    ]
    found = {method for route in matching if route.path == matching[0].path for method in route.methods or ()}
    return sorted(found)
