"""Processor time of workers and server: on a noisy machine it varies less than rates do."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import psutil

_MICROS = 1e6


class CpuMeter:
    """Measures from `begin` to `per_job`: the workers with their children, and the server with its own."""

    def __init__(self, workers: Sequence[int], server: int | None) -> None:
        """`server`: the process id of the server's first process; None for a database without one."""
        self._workers, self._server = workers, [] if server is None else [server]
        self._before: tuple[float, float] | None = None

    def begin(self) -> None:
        """Read the clocks, the first time that it is called."""
        if self._before is None:
            self._before = self._used()

    def per_job(self, jobs: int) -> dict[str, float]:
        """Return the microseconds of processor time for each job since the beginning; nothing if there was none."""
        if self._before is None:
            return {}
        worker, server = (
            (after - before) / jobs * _MICROS for before, after in zip(self._before, self._used(), strict=True)
        )
        return {"worker_us": worker, "server_us": server} if self._server else {"worker_us": worker}

    def _used(self) -> tuple[float, float]:
        return seconds(self._workers), seconds(self._server)


def seconds(pids: Sequence[int]) -> float:
    """Return the processor time of these processes and their children, ended ones included."""
    total = 0.0
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            first = psutil.Process(pid)
            for process in (first, *first.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    used = process.cpu_times()
                    total += used.user + used.system
                    total += getattr(used, "children_user", 0.0) + getattr(used, "children_system", 0.0)
    return total
