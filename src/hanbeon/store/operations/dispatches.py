"""The outbox of stream tasks: requests to send, to send again, and to clear away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hanbeon.domain.explain import StreamFacts
from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import State
from hanbeon.store.tx import Tx, to_json


class Unsent(NamedTuple):
    """A request that Redis does not have yet, as far as the database knows."""

    n: int
    stream: str
    wire_id: str
    fence: int
    body: str


class Closing(NamedTuple):
    """A request whose attempt is over, or still running and asked to stop."""

    n: int
    job: int
    fence: int
    stream: str
    wire_id: str
    stop: bool
    running: bool
    latest: bool
    """No later attempt of the job has been sent."""
    stop_requested_at: int | None
    now: int


class StreamStatus(NamedTuple):
    """The state of a stream, as instances last saw it."""

    name: str
    workers: int
    deadletters: int
    seen_at: int
    failing_since: int | None
    error: str | None


async def close_dispatches(tx: Tx, seqs: Sequence[int], *, stop: bool) -> None:
    """Have the requests of these jobs cleared away; `stop`: and their workers told to stop."""
    await tx.fetch("close_dispatches", to_json(sorted(seqs)), stop)
    tx.wake("stop")


async def unsent(tx: Tx, limit: int) -> list[Unsent]:
    return [Unsent(*(row[name] for name in Unsent._fields)) for row in await tx.fetch("unsent_dispatches", limit)]


async def mark_sent(tx: Tx, numbers: Sequence[int], epoch: str) -> None:
    await tx.fetch("mark_sent", to_json(sorted(numbers)), epoch)


async def send_again(tx: Tx, epoch: str) -> None:
    """Redis may have lost data: offer it every request that it got in another epoch."""
    await tx.fetch("send_again", epoch)


async def waiting_counts(tx: Tx) -> dict[str, int]:
    """Return how many requests of each stream wait for a worker."""
    return {row["stream"]: row["waiting"] for row in await tx.fetch("dispatched_counts")}


async def closing(tx: Tx, limit: int) -> list[Closing]:
    return [_closing(row) for row in await tx.fetch("closing_dispatches", limit)]


def _closing(row: Any) -> Closing:
    given = {name: row[name] for name in Closing._fields}
    return Closing(**given | {name: bool(row[name]) for name in ("stop", "running", "latest")})


async def put_off(tx: Tx, until: dict[int, int]) -> None:
    """Look at these requests again at their instants."""
    await tx.fetch("put_off_dispatches", to_json([{"n": n, "at": at} for n, at in until.items()]))


async def drop_dispatches(tx: Tx, numbers: Sequence[int]) -> None:
    await tx.fetch("drop_dispatches", to_json(sorted(numbers)))


async def write_status(tx: Tx, name: str, workers: int, deadletters: int) -> None:
    """Record what was seen of a stream just now."""
    await tx.fetch("write_stream", name, workers, deadletters)


async def note_failure(tx: Tx, name: str, error: str) -> None:
    """Record that Redis cannot be reached."""
    await tx.fetch("fail_stream", name, error)


async def waiting_in(tx: Tx, job: JobRecord) -> StreamFacts | None:
    """Return what is known of the stream in which a job waits for a worker; None if it does not."""
    if job.state is not State.READY or job.dispatched_at is None:
        return None
    for row in await tx.fetch("stream_of_job", job.seq):
        failing = None if row["failing_since"] is None else row["error"] or ""
        return StreamFacts(row["stream"], bool(row["sent"]), row["workers"], failing)
    return None


async def statuses(tx: Tx) -> list[StreamStatus]:
    return [StreamStatus(*(row[name] for name in StreamStatus._fields)) for row in await tx.fetch("streams")]
