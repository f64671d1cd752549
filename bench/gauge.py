"""What a worker process takes of the machine: memory and processor time."""

from __future__ import annotations

import time

import psutil

from bench.processes import Crew

MEGABYTE = 1e6


class Gauge:
    """Of the first process of a crew. Each `look` takes a sample, and raises if a process has ended."""

    def __init__(self) -> None:
        self.peak = 0.0
        """The most resident memory that was seen, in bytes."""
        self.memory = 0.0
        self._process: psutil.Process | None = None
        self._seen = (0.0, 0.0)

    def look(self, crew: Crew) -> None:
        crew.check()
        if self._process is None:
            self._process = psutil.Process(crew.pids[0])
        self.memory = self._process.memory_info().rss
        self.peak = max(self.peak, self.memory)

    def cpu(self, crew: Crew) -> float:
        """The share of one core since the last call; since the start of the process, for the first."""
        self.look(crew)
        assert self._process is not None
        used = self._process.cpu_times()
        now = time.time(), used.user + used.system
        before = self._seen if self._seen[0] else (self._process.create_time(), 0.0)
        self._seen = now
        return (now[1] - before[1]) / max(1e-9, now[0] - before[0])
