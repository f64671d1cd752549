"""Health, readiness and metrics, for operators and their monitoring."""

from __future__ import annotations

import asyncio
from importlib.metadata import version

from starlette.responses import Response

from hanbeon.domain.access import Need
from hanbeon.errors import DatabaseCorrupt, DatabaseUnavailable, Unavailable
from hanbeon.server.context import ServerContext
from hanbeon.server.metrics import CONTENT_TYPE, Numbers, metrics_text
from hanbeon.server.write_probe import WriteProbe
from hanbeon.store import schema as database_schema
from hanbeon.store.operations.listeners import count_listeners
from hanbeon.store.operations.queue_numbers import read_numbers
from hanbeon.store.operations.totals import ScheduleNumbers, schedule_numbers, totals
from hanbeon.store.tx import Tx
from hanbeon.surfaces.chains.rows import unfinished_counts
from hanbeon.surfaces.operation import Operation
from hanbeon.surfaces.schema import Result

_READY_WITHIN_SECONDS = 3.0
_VERSION = version("hanbeon")  # Reading it takes a millisecond.


class Liveness(Result, frozen=True, kw_only=True):
    status: str = "ok"
    version: str


class Readiness(Result, frozen=True, kw_only=True):
    status: str = "ready"


OPERATIONS = (
    Operation(
        *("GET", "/healthz", Need.NOTHING, "liveness", "Report that the process is alive."),
        responses={200: Liveness},
        quiet=True,
    ),
    Operation(
        *(
            "GET",
            "/readyz",
            Need.NOTHING,
            "readiness",
            "Check that the database responds, takes writes and has the right schema.",
        ),
        responses={200: Readiness},
        errors=(Unavailable,),
        quiet=True,
    ),
    Operation(
        *("GET", "/metrics", Need.READ, "metrics", "Metrics for Prometheus."),
        media="text/plain",
        quiet=True,
    ),
)


class Health:
    """Responses to the operations above."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._probe = WriteProbe(context.app.store, context.app.clock)

    async def liveness(self) -> Liveness:
        return Liveness(version=_VERSION)

    async def readiness(self) -> Readiness:
        store = self._context.app.store
        if store.damage is not None:
            raise DatabaseCorrupt(f"{store.damage}; restart the server afterwards")
        try:
            async with asyncio.timeout(_READY_WITHIN_SECONDS):
                database_schema.check(*await store.read(_schema_version))
        except TimeoutError:
            raise DatabaseUnavailable(f"the database did not respond within {_READY_WITHIN_SECONDS:g} s") from None
        await self._probe.check(_READY_WITHIN_SECONDS)
        return Readiness()

    async def metrics(self) -> Response:
        app = self._context.app
        most = app.settings.metrics_queues
        (queues, deliveries), unfolded = await app.store.read(lambda tx: read_numbers(tx, most, app.store.unfolded))
        app.store.fold_if_behind(unfolded)
        instances = await app.instances()
        listeners = await app.store.read(count_listeners)
        schedules, counted = await app.store.read(_of_schedules)
        chains = await app.store.read(unfinished_counts)
        numbers = Numbers(queues, deliveries, instances, listeners, schedules, counted, chains)
        text = metrics_text(self._context.counts, numbers)
        return Response(text, media_type=CONTENT_TYPE)


async def _schema_version(tx: Tx) -> tuple[int | None, int | None]:
    rows = await tx.fetch("schema_version")
    return (rows[0]["version"], rows[0]["runs_from"]) if rows else (None, None)


async def _of_schedules(tx: Tx) -> tuple[ScheduleNumbers, dict[str, int]]:
    return await schedule_numbers(tx), await totals(tx)
