"""Attempts for tests of the engine's parts: real ones, around work that the test controls."""

from collections.abc import Sequence
from typing import Any, cast
from zoneinfo import ZoneInfo

from hanbeon.domain.job import Claimed
from hanbeon.domain.retry import RetryPolicy
from hanbeon.engine.attempt import Attempt, Claim
from hanbeon.executors.executor import Call, Done, Executor, StopCause
from hanbeon.store.operations.lease import Lease
from hanbeon.store.store import Store

LEASE = 30.0


class HandWork:
    """Work that ends when the test says so, and records how it was stopped."""

    def __init__(self, done: Done = lambda outcome: None) -> None:
        self.stops: list[StopCause] = []
        self.insisted = 0
        self.end = done

    def stop(self, cause: StopCause) -> None:
        self.stops.append(cause)

    def escalate(self) -> None:
        self.insisted += 1


class HandExecutor:
    """Starts that work; its stopping takes as long as given."""

    name = "by hand"
    offers_transactions = False
    start_seconds = 0.0

    def __init__(self, stop_seconds: float = 0.0) -> None:
        self.stop_seconds = stop_seconds
        self.started: list[HandWork] = []

    def start(self, call: Call, done: Done) -> HandWork:
        self.started.append(HandWork(done))
        return self.started[-1]

    async def close(self) -> None:
        return


class NoStore:
    """A database that is away: asking it anything but to note the begin of a body is a failure of the test."""

    async def note_begin(self, held: Lease, *, begun: bool) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the store was asked to {name}")


class NoBatches:
    """A database without the fast path of successes."""

    async def succeed(self, jobs: Sequence[Claimed], results: Sequence[str | None]) -> int | None:
        return None


def new_attempt(
    *,
    seq: int = 1,
    fence: int = 1,
    timeout: float | None = None,
    claimed_at: float = 0.0,
    lease: float = LEASE,
    executor: Executor | None = None,
    store: object | None = None,
    args: str = "{}",
) -> Attempt:
    job = Claimed(
        instance=1,
        lane=1,
        seq=seq,
        id=f"01a1e189-eda6-7180-9760-{seq:012}",
        fence=fence,
        queue="default",
        task="work",
        role="",
        args=args,
        retry_count=0,
        timeout_us=None if timeout is None else round(timeout * 1_000_000),
        policy=RetryPolicy(),
        idempotency_key=None,
        run_at=0,
        started_at=0,
        progress=None,
    )
    claim = Claim(
        cast(Store, store or NoStore()),
        executor or HandExecutor(),
        claimed_at=claimed_at,
        lease_seconds=lease,
        zone=ZoneInfo("UTC"),
        zone_of_naive=None,
        max_payload_bytes=1024,
    )
    return Attempt(job, claim)
