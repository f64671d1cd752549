"""Databases with many queues: what metrics and the list of workers read and show does not grow with their number."""

import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from hanbeon import App
from hanbeon.store.tx_base import TxBase
from tests.server.client import Client, serving

_METRICS_QUEUES = 10


class _Reads:
    """Counts the statements of all transactions, and their rows."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows: Counter[str] = Counter()
        self.statements: Counter[str] = Counter()
        for kind in TxBase.__subclasses__():
            self._count(kind, monkeypatch)

    def _count(self, kind: type[TxBase], monkeypatch: pytest.MonkeyPatch) -> None:
        fetch = kind.fetch

        async def counted(tx: TxBase, name: str, *args: Any) -> Sequence[Any]:
            rows = await fetch(tx, name, *args)
            self.statements[name] += 1
            self.rows[name] += len(rows)
            return rows

        monkeypatch.setattr(kind, "fetch", counted)

    async def of(self, client: Client, path: str) -> tuple[int, int, str]:
        """The statements and the rows of a request, and the response."""
        self.rows.clear()
        self.statements.clear()
        answer = await client.get(path)
        assert answer.status == 200, answer
        return self.statements.total(), self.rows.total(), answer.body.decode()


@asynccontextmanager
async def _with_queues(app: App, number: int) -> AsyncIterator[Client]:
    @app.task
    async def work() -> None: ...

    app.settings = app.settings.model_copy(update={"metrics_queues": _METRICS_QUEUES})
    for first in range(0, number, 200):
        last = min(number, first + 200)
        await app.enqueue_many([work.call().set(queue=f"queue-{n:05}") for n in range(first, last)])
    await app.enqueue_many([work.call().set(queue="large") for _ in range(3)])
    while await app.store.number_events():
        pass
    while await app.store.fold():
        pass
    async with serving(app) as client:
        yield client


@pytest.mark.parametrize("number", [200, pytest.param(5_000, marks=pytest.mark.slow)])
async def test_reads_do_not_grow_with_the_queues(app: App, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    reads = _Reads(monkeypatch)
    async with _with_queues(app, number) as client:
        statements, rows, text = await reads.of(client, "/metrics")
        assert (statements < 40, rows < 150) == (True, True), (reads.statements, reads.rows)
        shown = dict(re.findall(r'^hanbeon_jobs\{queue="(.*)",state="ready"\} (\S+)', text, re.M))
        assert len(shown) == _METRICS_QUEUES + 1
        assert (float(shown["large"]), float(shown["*"])) == (3, number - _METRICS_QUEUES + 1)
        assert len(re.findall("^hanbeon_oldest_ready_seconds", text, re.M)) == len(shown)
        statements, rows, _ = await reads.of(client, "/api/engine/instances")
        assert (statements < 20, rows < 20) == (True, True), (reads.statements, reads.rows)


async def test_unfolded_changes_move_queues_among_the_largest(app: App) -> None:
    async with _with_queues(app, 30) as client:
        (task,) = (each for name, each in app.tasks.by_name.items() if name.endswith("work"))
        await app.enqueue_many([task.call().set(queue="late") for _ in range(2)])
        await app.cancel_where(queue="large")
        text = (await client.get("/metrics")).body.decode()
        shown = re.findall(r'^hanbeon_jobs\{queue="(.*)",state="ready"\} (\S+)', text, re.M)
        assert shown[0] == ("late", "2.0")
        assert sum(float(number) for _, number in shown) == 32
        assert 'queue="large"' not in text
        others = re.search(r'^hanbeon_jobs\{queue="\*",state="cancelled"\} (\S+)', text, re.M)
        assert others is not None
        assert float(others[1]) == 3
