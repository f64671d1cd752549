"""What operators and their machines ask a server: is it alive, can it serve, what are its numbers."""

from __future__ import annotations

import asyncio
from importlib.metadata import version

import msgspec
from starlette.responses import Response

from hanbeon.domain.access import Need
from hanbeon.errors import DatabaseUnavailable, Unavailable
from hanbeon.logs import get_logger
from hanbeon.server.context import ServerContext
from hanbeon.server.metrics import CONTENT_TYPE, Numbers, metrics_text
from hanbeon.server.operation import Operation, Reply
from hanbeon.server.request import ApiRequest
from hanbeon.store import schema
from hanbeon.store.operations.listeners import count_listeners
from hanbeon.store.operations.totals import ScheduleNumbers, schedule_numbers, totals
from hanbeon.store.tx import Tx

_log = get_logger("hanbeon.server")
_PATIENCE_SECONDS = 3.0
_VERSION = version("hanbeon")  # Reading it takes a millisecond.
_WINDOW_SECONDS = 300.0


class Health(msgspec.Struct, frozen=True, kw_only=True):
    status: str = "ok"
    version: str


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    status: str = "ready"


def operations(context: ServerContext) -> list[Operation]:
    async def healthz(ask: ApiRequest) -> Reply:
        return Reply(Health(version=_VERSION))

    async def readyz(ask: ApiRequest) -> Reply:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                schema.check(*await context.app.store.read(_version))
        except TimeoutError:
            raise DatabaseUnavailable(f"the database did not answer within {_PATIENCE_SECONDS:g} s") from None
        return Reply(Readiness())

    async def metrics(ask: ApiRequest) -> Response:
        queues = await context.app.statistics(window=_WINDOW_SECONDS)
        instances = await context.app.instances()
        listeners = await context.app.store.read(count_listeners)
        schedules, counted = await context.app.store.read(_of_schedules)
        numbers = Numbers(queues, instances, listeners, schedules, counted)
        return Response(metrics_text(context.counts, numbers), media_type=CONTENT_TYPE)

    return [
        Operation(
            *("GET", "/healthz", Need.NOTHING, healthz, "Whether the process lives."), shapes={200: Health}, quiet=True
        ),
        Operation(
            *("GET", "/readyz", Need.NOTHING, readyz, "Whether the database answers, with the right schema."),
            shapes={200: Readiness},
            refuses=(Unavailable,),
            quiet=True,
        ),
        Operation(*("GET", "/metrics", Need.READ, metrics, "Numbers for Prometheus."), media="text/plain", quiet=True),
    ]


async def _version(tx: Tx) -> tuple[int | None, int | None]:
    rows = await tx.fetch("schema_version")
    return (rows[0]["version"], rows[0]["runs_from"]) if rows else (None, None)


async def _of_schedules(tx: Tx) -> tuple[ScheduleNumbers, dict[str, int]]:
    return await schedule_numbers(tx), await totals(tx)
