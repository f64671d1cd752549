"""DBOS: workflows of a queue, polled ten times a second instead of once."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dbos import DBOS, DBOSClient

from bench.adapters.adapter import Adapter, url
from bench.adapters.marks import mark


def launch() -> None:
    DBOS(
        config={
            "name": "bench",
            "system_database_url": url(),
            "log_level": "WARNING",
            "application_version": "1",
            "executor_id": f"worker{os.getpid()}",
        }
    )

    @DBOS.workflow(name="noop")
    def noop(x: int) -> None:
        mark(x)

    DBOS.launch()


def setup() -> None:
    launch()
    DBOS.destroy()


@contextmanager
def session() -> Iterator[Any]:
    client = DBOSClient(system_database_url=url(), application_name="bench")
    yield client
    client.destroy()


def one(client: Any, x: int) -> None:
    client.enqueue({"queue_name": "q", "workflow_name": "noop"}, x)


def worker(concurrency: int) -> None:
    launch()
    DBOS.register_queue("q", polling_interval_sec=0.1, worker_concurrency=concurrency, on_conflict="always_update")
    threading.Event().wait()


ADAPTER = Adapter(one, session=session, setup=setup, worker=worker)
