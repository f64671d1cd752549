"""Health, readiness and metrics, for operators and their monitoring."""

from __future__ import annotations

import asyncio
from importlib.metadata import version

from starlette.responses import Response

from hanbeon.clock import Clock
from hanbeon.domain.access import Need
from hanbeon.domain.totals import PRUNED, RECOVERED, by_labels
from hanbeon.errors import DatabaseCorrupt, DatabaseUnavailable, Unavailable
from hanbeon.rule import Rule
from hanbeon.server.context import ServerContext
from hanbeon.server.metrics import CONTENT_TYPE, Numbers, metrics_text
from hanbeon.store import schema as database_schema
from hanbeon.store.operations.overview import read_numbers
from hanbeon.store.operations.totals import totals
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx
from hanbeon.surfaces.metric import SurfaceMetrics
from hanbeon.surfaces.operation import Operation
from hanbeon.surfaces.schema import Result
from hanbeon.surfaces.surface import load

_EVERY_SECONDS = 5.0
_EVERY_SECONDS_WHILE_REFUSED = 1.0


class WriteProbe:
    """Writes something now and then, however often it is asked, and remembers the answer."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._refusal: DatabaseUnavailable | None = None
        self._writing: asyncio.Task[None] | None = None
        self._asked_at = 0.0

    async def check(self, seconds: float) -> None:
        """Raise DatabaseUnavailable if the last write was refused.

        Waits at most `seconds` for a new answer. One that takes longer is no refusal: on SQLite, others may write.
        """
        if self._writing is None or (self._writing.done() and self._is_due()):
            self._asked_at = self._clock.monotonic()
            self._writing = asyncio.get_running_loop().create_task(self._write())
        await asyncio.wait([self._writing], timeout=seconds)
        if self._refusal is not None:
            raise type(self._refusal)(str(self._refusal))

    def _is_due(self) -> bool:
        pause = _EVERY_SECONDS if self._refusal is None else _EVERY_SECONDS_WHILE_REFUSED
        return self._clock.monotonic() - self._asked_at >= pause

    async def _write(self) -> None:
        try:
            await self._store.probe_write()
        except DatabaseUnavailable as error:
            self._refusal = error
        else:
            self._refusal = None


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
            raise DatabaseCorrupt(Rule("damaged_until_restart", damage=store.damage))
        try:
            async with asyncio.timeout(_READY_WITHIN_SECONDS):
                database_schema.check(*await store.read(_schema_version))
        except TimeoutError:
            raise DatabaseUnavailable(Rule("database_not_ready", seconds=f"{_READY_WITHIN_SECONDS:g}")) from None
        await self._probe.check(_READY_WITHIN_SECONDS)
        return Readiness()

    async def metrics(self) -> Response:
        app = self._context.app
        most = app.settings.metrics_queues
        queues, reserved = await app.store.read(lambda tx: read_numbers(tx, most, app.store.unfolded))
        instances = await app.instances()
        of_surfaces: list[SurfaceMetrics] = [load(each.metrics) for each in app.surfaces if each.metrics is not None]
        gauges = [gauge for each in of_surfaces for gauge in await app.store.read(each.read)]
        for each in of_surfaces:
            gauges += each.of_reserved(reserved) if each.of_reserved is not None else ()
        kinds = [RECOVERED, PRUNED, *(total for each in of_surfaces for total in each.totals)]
        counted = by_labels(kinds, await app.store.read(totals))
        numbers = Numbers(queues, instances, gauges, counted)
        text = metrics_text(self._context.counts, numbers)
        return Response(text, media_type=CONTENT_TYPE)


async def _schema_version(tx: Tx) -> tuple[int | None, int | None]:
    rows = await tx.fetch("schema_version")
    return (rows[0]["version"], rows[0]["runs_from"]) if rows else (None, None)
