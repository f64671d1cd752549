"""Watches limits from outside: one statement in a tight loop, on its own connection and thread."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.limits import NO_LIMIT, QueueLimits
from tests.storm.observer import observer

# Limits and runners of one snapshot, so that no sample checks a job against limits of another moment.
_RUNNING = """
SELECT r.queue, r.role, r.concurrency_key, r.started_at, q.limits, q.changed_at
FROM hanbeon.jobs AS r JOIN hanbeon.queue AS q ON q.name = r.queue
WHERE r.state = 'running' ORDER BY r.queue, r.started_at
"""
_limits = msgspec.json.Decoder(QueueLimits)
_SHOWN = 10


class Runner(NamedTuple):
    """A running job, as one sample shows it."""

    queue: str
    role: str
    key: str
    started_at: int


class Sampler:
    """Counts running jobs for as long as its `with` block lasts, and checks them against the limits in force."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._stop = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._watch()), name="sampler")
        self._failure: BaseException | None = None
        self.samples = 0
        self.busy_samples = 0
        """Those that saw something run."""
        self.most: Counter[tuple[str, str, str]] = Counter()
        """The most that ran at once, by (queue, "", ""), (queue, "role", role) and (queue, "key", key)."""
        self.exceeded: list[str] = []

    def __enter__(self) -> Sampler:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def most_in(self, queue: str) -> int:
        return self.most[queue, "", ""]

    def __str__(self) -> str:
        shown = "".join(f"\n  {line}" for line in self.exceeded[:_SHOWN])
        return f"{self.samples} samples, {self.busy_samples} of them busy, {len(self.exceeded)} over a limit{shown}"

    async def _watch(self) -> None:
        try:
            async with observer(self._url) as database:
                while not self._stop.is_set():
                    self.note(await database.fetch(_RUNNING))
        except BaseException as error:  # Raised when the block ends; in this thread nobody would see it.
            self._failure = error

    def note(self, rows: Sequence[Sequence[Any]]) -> None:
        """Take one sample into account."""
        self.samples += 1
        self.busy_samples += bool(rows)
        for _, group in groupby(rows, key=lambda row: row[0]):
            runners = list(group)
            limits, changed_at = _limits.decode(runners[0][4]), runners[0][5]
            for finding in self._judge([Runner(*row[:4]) for row in runners], limits, changed_at):
                self.exceeded.append(finding)

    def _judge(self, runners: list[Runner], limits: QueueLimits, changed_at: int) -> Iterator[str]:
        queue = runners[0].queue
        yield from self._within((queue, "", ""), runners, limits.max_concurrent, changed_at)
        for role in {runner.role for runner in runners} - {""}:
            those = [runner for runner in runners if runner.role == role]
            yield from self._within((queue, "role", role), those, limits.for_role(role), changed_at)
        for key in {runner.key for runner in runners} - {""}:
            those = [runner for runner in runners if runner.key == key]
            yield from self._within((queue, "key", key), those, limits.for_key(key), changed_at)

    def _within(self, what: tuple[str, str, str], runners: list[Runner], limit: int, changed_at: int) -> Iterator[str]:
        """Lowering a limit stops no job, but none starts until there is room.

        So it is exceeded if more run than it allows and the youngest of them started after it came into force: all
        the others have been running ever since that start.
        """
        self.most[what] = max(self.most[what], len(runners))
        if limit != NO_LIMIT and len(runners) > limit and runners[-1].started_at > changed_at:
            yield f"{len(runners)} of {' '.join(filter(None, what))} ran at once; the limit is {limit}: {runners}"
