"""Memory and CPU time of a worker process."""

from __future__ import annotations

import time

import psutil

from bench.processes import ProcessGroup

MEGABYTE = 1e6


class Gauge:
    """Measures the first process of a group. `sample` raises if a process has ended."""

    def __init__(self) -> None:
        self.peak = 0.0
        """The highest resident memory sampled, in bytes."""
        self.memory = 0.0
        self._process: psutil.Process | None = None
        self._previous = (0.0, 0.0)

    def sample(self, group: ProcessGroup) -> None:
        group.check()
        if self._process is None:
            self._process = psutil.Process(group.pids[0])
        self.memory = self._process.memory_info().rss
        self.peak = max(self.peak, self.memory)

    def cpu(self, group: ProcessGroup) -> float:
        """Return the share of one core used since the last call, or since the start of the process."""
        self.sample(group)
        assert self._process is not None
        used = self._process.cpu_times()
        now = time.time(), used.user + used.system
        before = self._previous if self._previous[0] else (self._process.create_time(), 0.0)
        self._previous = now
        return (now[1] - before[1]) / max(1e-9, now[0] - before[0])
