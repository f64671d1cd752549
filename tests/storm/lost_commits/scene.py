"""A scene of the sweep: an App on a clock that stands still, one commit that is lost, and a caller that repeats."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from types import FrameType
from typing import Any, TypeVar

import pytest
import uuid_utils

from hanbeon import App
from hanbeon.domain.events import Event
from hanbeon.domain.job import Claimed, JobRecord
from hanbeon.errors import DatabaseUnavailable, HanbeonError
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.events import events_after
from hanbeon.store.operations.queries import JobFilter, list_jobs
from hanbeon.store.store import Store
from hanbeon.testing import VirtualClock
from tests.databases.faults import CommitFaults, lossy
from tests.store.write_operations import operation_name

T = TypeVar("T")
LEASE = 30.0
LEASE_US = 30_000_000
_TRIES = 3


class Scene:
    """The setting of a case. `number` tells its runs apart, which share a database."""

    def __init__(self, app: App, clock: VirtualClock, faults: CommitFaults, number: int, when: str | None) -> None:
        self.app, self.clock, self.number = app, clock, number
        self._faults, self._when = faults, when
        self.struck = False
        self.ran: Counter[str] = Counter()
        """How often the body of each job ran."""
        self.operations: set[str] = set()
        """The functions of the store that ran where commits may be lost; known if none is."""

    @property
    def store(self) -> Store:
        return self.app.store

    def named(self, name: str) -> str:
        return f"{name}-{self.number}"

    def new_id(self) -> str:
        return str(uuid_utils.uuid7())

    def repeatable_ids(self) -> Callable[[int], str]:
        """Ids as a request with an Idempotency-Key has them: the same for each repeat."""
        made: dict[int, str] = {}
        return lambda number: made.setdefault(number, self.new_id())

    @contextlib.contextmanager
    def losing(self) -> Iterator[None]:
        """Lose one commit from here on: the one with the number of the run."""
        if self._when is not None:
            getattr(self._faults, self._when)(self.number)
        else:
            sys.setprofile(self._note)  # Not while commits are lost: it takes most of the time.
        try:
            yield
        finally:
            sys.setprofile(None)
            self.struck = self._faults.struck
            self._faults.heal()

    @contextlib.contextmanager
    def tracing(self) -> Iterator[None]:
        """Note who causes jobs; spans are sent nowhere."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OTEL_TRACES_EXPORTER", "none")
            self.store.trace(on=True)
            try:
                yield
            finally:
                self.store.trace(on=False)

    async def surely(self, call: Callable[[], Awaitable[T]], done: type[HanbeonError] | None = None) -> T | None:
        """Repeat a call until it is answered, as its caller does. After a lost answer, `done` means that it is done."""
        for attempt in range(_TRIES):
            try:
                return await call()
            except DatabaseUnavailable:
                if attempt == _TRIES - 1:
                    raise
            except HanbeonError as error:
                if done is None or not isinstance(error, done) or not attempt:
                    raise
                return None
        raise AssertionError("unreachable")

    async def advance(self, seconds: float) -> None:
        """Let time pass where commits may be lost: the clock's own write to its database may be one of them."""
        try:
            await self.clock.advance(seconds)
        except DatabaseUnavailable:
            await self.clock.step(0)

    async def claim(self, task: str = "quick", instance: int = 900_000) -> list[Claimed]:
        """Claim for an instance that is not a worker here."""
        return (await self.store.claim(ClaimRequest(instance, [task], 10, LEASE_US))).jobs

    async def jobs(self, queue: str) -> list[JobRecord]:
        return await self.store.read(lambda tx: list_jobs(tx, JobFilter(queue=queue), limit=1_000))

    async def events(self) -> list[Event]:
        """All events that are kept, also those of scenes before this one."""
        while await self.store.number_events():
            pass
        found: list[Event] = []
        while page := await self.store.read(partial(events_after, after=found[-1].id if found else 0)):
            found += page
        return found

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and (name := operation_name(frame.f_code.co_filename, frame.f_code.co_name)) is not None:
            self.operations.add(name)


Case = Callable[[Scene], Awaitable[None]]


class Stage:
    """An App with the tasks of the cases, on which scenes follow each other."""

    def __init__(self, app: App, clock: VirtualClock, faults: CommitFaults) -> None:
        self.app, self._clock, self._faults = app, clock, faults
        self.current: Scene | None = None
        self._number = 0

    def scene(self, number: int, when: str | None) -> Scene:
        self.current = Scene(self.app, self._clock, self._faults, number, when)
        return self.current


@contextlib.asynccontextmanager
async def stage(url: str) -> AsyncIterator[Stage]:
    clock = VirtualClock()
    with tempfile.TemporaryDirectory() as folder:
        files = {"replay_path": f"{folder}/replays", "jobs_export_path": f"{folder}/exports"}
        async with lossy(url, clock=clock, lease=LEASE, shutdown_grace=0.2, watch=0.05, **files) as (app, faults, _):
            await clock.attach(app.store)
            found = Stage(app, clock, faults)
            yield found
