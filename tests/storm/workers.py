"""Workers in their own processes, to race, kill and freeze."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Self

from tests.processes.main import Arguments
from tests.processes.process import Process, together


class WorkerProcess(Process):
    """A process with one or more workers; ready when they are registered and claim."""

    @classmethod
    def start(
        cls,
        url: str,
        module: str = "tests.storm.race_tasks",
        *,
        settings: Mapping[str, Any] | None = None,
        concurrency: int = 10,
        workers: int = 1,
        before: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Self:
        """Start a process that runs `workers` workers of the App that `module.make_app(url, **settings)` makes.

        `before` names a function, as `module:function`, to call first. Returns at once; see `wait_ready`.
        """
        arguments = Arguments(url, module, dict(settings or {}), concurrency, workers, before)
        return cls("tests.processes.main", [json.dumps(arguments)], environment)


def worker_processes(count: int, url: str, **options: Any) -> AbstractContextManager[list[WorkerProcess]]:
    """Yield several identical worker processes, all ready; none outlives the block."""
    return together(count, lambda _: WorkerProcess.start(url, **options))
