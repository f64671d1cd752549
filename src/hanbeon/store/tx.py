"""The interface of a transaction that operations are written against, for both databases."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import msgspec

from hanbeon.domain.events import Event
from hanbeon.domain.job import RESERVED
from hanbeon.domain.reserved_queues import is_of_surface
from hanbeon.domain.trace_context import TraceContext

if TYPE_CHECKING:
    from hanbeon.domain.job import NewJob
    from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest, LanePosition
    from hanbeon.store.operations.complete import Completed, CompletionReport
    from hanbeon.store.operations.enqueue import Enqueued
    from hanbeon.store.operations.lanes import LaneCache

T = TypeVar("T")
JOBS_A_SECOND = 500
"""How many jobs, edges or dependents a transaction writes in a second, on a slow and busy machine."""
LONG_SECONDS = 10.0
"""A write that may take this long is announced: the databases give it more time, and SQLite the leases of others."""
UNANNOUNCED_JOBS = round(LONG_SECONDS * JOBS_A_SECOND) - 1
"""As many jobs may be written without an announcement."""
HINTS = frozenset(("work", "job", "later", "stop", "event", "fire", "outgoing", "drain"))
"""Wake-up hints: jobs of any task may be claimed; jobs that are not of built-in tasks may be claimed; a job has a time
to wait for or must be recounted; a job must stop; an event was written; the next fire of a schedule changed; a listener
was added, or a message is ready to be sent; an instance was drained or resumed."""


def ready_hint(tasks: Iterable[str]) -> str:
    """Return the hint that new jobs of these tasks are ready.

    Jobs of built-in tasks have pools of their own, each of which would look for nothing for most jobs.
    """
    return "work" if any(task.startswith(RESERVED) for task in tasks) else "job"


def slot_hint(queue: str) -> str:
    """Return the hint that a slot of this queue is free."""
    return "work" if is_of_surface(queue) else "job"


class AfterCommit:
    """Effects of a transaction that follow its commit: hints for listeners, and callbacks to run."""

    __slots__ = ("callbacks", "hints")

    def __init__(self) -> None:
        self.hints: set[str] = set()
        self.callbacks: list[Callable[[], None]] = []

    def add(self, other: AfterCommit) -> None:
        self.hints |= other.hints
        self.callbacks += other.callbacks


class TraceScope(NamedTuple):
    """Tracing is on; `context` is the span for which the transaction runs, if there is one."""

    context: TraceContext | None


class TakesLonger(Exception):
    """A transaction found out that it has more to do than was announced: it is rolled back and begun again."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it may take {seconds:.0f} s")
        self.seconds = seconds


def check_announced(jobs: int, seconds: float) -> None:
    """Raise `TakesLonger` if writing so many jobs may take long, and longer than was announced."""
    needed = jobs / JOBS_A_SECOND
    if needed >= LONG_SECONDS and needed > seconds:
        raise TakesLonger(needed)


class Copy(Protocol):
    """Writes lines of COPY's text format to a table. The server processes them while the next ones are encoded."""

    async def __call__(self, table: str, columns: Sequence[str], lines: AsyncIterator[bytes]) -> None: ...


class FastSteps(Protocol):
    """Shorter ways of some steps within a transaction, all of them optional; see `store/fast/`."""

    async def enqueue_within(self, tx: Tx, lanes: LaneCache, job: NewJob) -> Enqueued | None:
        """Create a single job; None: nothing was written."""
        ...

    async def claim_lane(
        self, tx: Tx, lanes: LaneCache, behind: LanePosition, request: ClaimRequest, cursor: int, *, alone: bool
    ) -> ClaimAnswer:
        """Claim jobs of a lane after a position. `alone`: no other lane has ready jobs."""
        ...

    async def succeed_within(
        self, tx: Tx, lanes: LaneCache, reports: Mapping[tuple[int, int], CompletionReport]
    ) -> list[Completed]:
        """Apply the plain successes among the reports. Those missing from the answer are left to the general path."""
        ...

    async def copy_jobs(self, tx: Tx, lanes: LaneCache, jobs: Sequence[NewJob]) -> list[Enqueued] | None:
        """Create many jobs whose ids and keys are almost certainly free and whose times have come; None: use `enqueue`.

        If one is taken after all, the transaction fails, and is run again without this.
        """
        ...

    async def copy_rows(self, tx: Tx, table: str, rows: Sequence[msgspec.Struct], *, now: str | None = None) -> bool:
        """Write many rows, whose fields are columns, and which must not conflict; False: nothing was written.

        `now`: a further column, for the instant.
        """
        ...


class Tx(Protocol):
    """One open transaction.

    Operations are written once, as coroutines over this. On PostgreSQL they run on the event loop; SQLite's
    transaction never suspends, so its thread drives the same coroutine to its end without a loop.
    """

    tracing: TraceScope | None
    """None while tracing is off."""
    fast: FastSteps | None
    """None: each step takes the general path."""
    has_round_trips: bool
    """True where each statement is a request to a server: then one that does much is better than several."""

    @property
    def copy(self) -> Copy | None:
        """Writes rows by COPY; None where there is none. A row that conflicts rolls the transaction back.

        None also in a transaction that is run again because it was rolled back: `ON CONFLICT` can tell what is there.
        """
        ...

    async def fetch(self, name: str, *args: Any) -> Sequence[Any]:
        """Run a named statement and return its rows, readable by position and by column name."""
        ...

    def emit(self, *events: Event) -> None:
        """Append events; they are written with the transaction, in this order, as one batch."""
        ...

    def count_moves(self, count: int) -> None:
        """Add moves of jobs whose events are written without `emit`."""
        ...

    @property
    def moves(self) -> int:
        """How many events of jobs were appended so far."""
        ...

    def expect(self, jobs: int) -> None:
        """Announce that so many jobs are about to be written; a long write may be begun again for that."""
        ...

    def wake(self, *hints: str) -> None:
        """Send these hints to listeners once the transaction has committed (see `HINTS`). Lost hints cost only time."""
        ...

    def after_commit(self, callback: Callable[[], None]) -> None:
        """Run the callback once the transaction has committed, on the event loop; never if it is rolled back.

        Inside a caller's own transaction it is never run, because its commit is not observed.
        """
        ...


def to_json(value: Any) -> str:
    """Encode a batch as one JSON text, which both databases unnest in SQL."""
    return msgspec.json.encode(value).decode()


def in_parts(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Split what is too much for one statement, in order."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def drive(coroutine: Any) -> Any:
    """Run a coroutine that never suspends, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise RuntimeError("an operation awaited something other than its transaction")
