"""The ASGI application: the operations of all surfaces as routes, and every error as a problem."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp

from hanbeon.errors import HanbeonError, InvalidInput
from hanbeon.server import docs_pages, health
from hanbeon.server.context import ServerContext
from hanbeon.server.middleware import RequestMiddleware
from hanbeon.server.offices import events, jobs, routes, webhooks
from hanbeon.server.operation import Operation, Reply
from hanbeon.server.problems import Refused, problem_of
from hanbeon.server.push.websocket import websockets
from hanbeon.server.request import ApiRequest, kinds_of
from hanbeon.server.schedules import executions, schedules
from hanbeon.surfaces.offices.service import Offices
from hanbeon.surfaces.schedules.service import Schedules


def application(context: ServerContext) -> ASGIApp:
    """What a server serves."""
    offices = Offices(context.app, context.worker)
    timetable = Schedules(context.app)
    follow = events.channel(context, offices)
    channels = [follow]
    told = [
        *health.operations(context),
        *routes.operations(offices),
        *jobs.operations(offices),
        *webhooks.operations(offices),
        *events.operations(context, follow),
        *executions.operations(timetable),
        *schedules.operations(timetable),
    ]
    told += docs_pages.operations(told, channels)
    # Its own pages load from elsewhere, and its own description would say less.
    api = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    for each in told:
        api.add_api_route(each.path, _endpoint(context, each), methods=[each.method], response_model=None)
    for channel in channels:
        api.add_api_route(channel.path, _not_a_websocket, methods=["GET"], response_model=None)
    _translate_errors(api)
    return RequestMiddleware(api, websockets(context, channels), context.counts.count)


async def _not_a_websocket(request: Request) -> Response:
    raise Refused("not_a_websocket", "connect to it as ws://", {"Upgrade": "websocket", "Connection": "Upgrade"})


def _endpoint(context: ServerContext, operation: Operation) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    most = context.app.settings.max_request_bytes
    kinds = kinds_of(operation.query)

    async def endpoint(request: Request) -> Response:
        request.state.quiet = operation.quiet
        who = await context.authenticator.admit(request, operation.need)
        request.state.user = who.user
        ask = ApiRequest(request, who, kinds, most)

        async def answer() -> Response:
            answer = await operation.answer(ask)
            return answer.response() if isinstance(answer, Reply) else answer

        return await context.idempotency.once(ask, answer) if operation.creates else await answer()

    return endpoint


def _translate_errors(api: FastAPI) -> None:
    async def known(request: Request, error: Any) -> Response:
        return problem_of(error)

    async def refused(request: Request, error: Any) -> Response:
        response: Response = error.response()
        return response

    async def of_http(request: Request, error: Any) -> Response:
        if error.status_code == 405:
            methods = ", ".join(_methods(api.routes, request))
            return Refused("wrong_method", f"use {methods}", {"Allow": methods}).response()
        return Refused("no_such_path", "the page /docs lists what there is").response()

    async def unreadable(request: Request, error: Any) -> Response:
        return problem_of(InvalidInput("the request does not fit"))

    async def defect(request: Request, error: Any) -> Response:
        return Refused("defect", "it is not your request's fault").response()

    api.add_exception_handler(HanbeonError, known)
    api.add_exception_handler(Refused, refused)
    api.add_exception_handler(HTTPException, of_http)
    api.add_exception_handler(RequestValidationError, unreadable)
    api.add_exception_handler(Exception, defect)


def _methods(routes: Sequence[Any], request: Request) -> list[str]:
    """Of the first path that fits: `…/jobs/cancel-all` is no job."""
    fitting = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    found = {method for route in fitting if route.path == fitting[0].path for method in route.methods}
    return sorted(found | ({"HEAD"} if "GET" in found else set()))
