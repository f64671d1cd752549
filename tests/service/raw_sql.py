"""Ways to change a database behind the store's back."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from hanbeon.store.dialect import translate
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx
from tests.service.lives import HOUR

Told = dict[str, Any]


async def run_sql(store: Store, sql: str, *args: Any) -> Sequence[Any]:
    """Any statement, behind the store's back, in the portable words of `dialect.py`."""
    transaction = await store.begin()
    try:
        rows = await transaction.fetch(translate(sql, store.database.dialect), *args)
        await transaction.finish(_nothing)
    finally:
        await transaction.abandon()
    return rows


async def fold(store: Store) -> None:
    """From here on the tallies know of all events there are."""
    await store.number_events()
    assert await store.fold()


async def retell(store: Store, change: Callable[[Told], Told | None]) -> int:
    """Change what events say, in place; None leaves one as it is. How many were changed."""
    changed = 0
    for row in await run_sql(store, "SELECT seq, body FROM hanbeon.event_batch ORDER BY seq"):
        events = msgspec.json.decode(row["body"])
        if isinstance(events, dict):
            continue  # Groups of other jobs.
        changes = [change(dict(event)) for event in events]
        if any(changes):
            changed += sum(event is not None for event in changes)
            body = msgspec.json.encode([new or old for new, old in zip(changes, events, strict=True)]).decode()
            await run_sql(store, "UPDATE hanbeon.event_batch SET body = $1 WHERE seq = $2", body, row["seq"])
    return changed


async def retell_one(store: Store, job_id: str, type: str, new: Told, attempt: int | None = None) -> None:
    """Change one event of a job; None takes a field away."""

    def change(event: Told) -> Told | None:
        asked = event.get("job_id") == job_id and event["type"] == type and attempt in (None, event.get("attempt"))
        return {name: value for name, value in (event | new).items() if value is not None} if asked else None

    assert await retell(store, change) == 1


async def seq_of(store: Store, job_id: str) -> int:
    return (await store.job(job_id)).seq


async def age_changes(store: Store, queue: str, by: Callable[[Told], int]) -> None:
    """Tell of a queue's changes as if they had been made earlier, by as much as `by` says of each."""

    def change(event: Told) -> Told | None:
        if event["type"] != "queue_changed" or event["queue"] != queue:
            return None
        return event | {"at": event["at"] - by(event)}

    assert await retell(store, change)


async def _nothing(tx: Tx) -> None:
    return None


def name_of_index(store: Store, name: str) -> str:
    return name if store.database.dialect.name == "sqlite" else f"hanbeon.{name}"


def is_first_limit(event: Told) -> bool:
    return bool(event["details"]["limits"].get("max_concurrent") == 2)


async def age_first_limit(store: Store, **limits: object) -> None:
    """Every start of the narrow queue is long after its first limit, which is then as given."""

    def change(event: Told) -> Told | None:
        if event["type"] != "queue_changed":
            return None
        details = event["details"] | {"limits": event["details"]["limits"] | limits}
        return event | {"at": event["at"] - HOUR if is_first_limit(event) else event["at"], "details": details}

    assert await retell(store, change)


async def shift_attempt(store: Store, job_id: str, attempt: int, column: str, by: int) -> None:
    """Change when an attempt is said to have been, wherever it is written down."""
    which = (by, await seq_of(store, job_id), attempt)
    own = {"ended_at": "finished_at"}.get(column, column)
    sql = f"UPDATE hanbeon.past_attempt SET {column} = {column} + $1 WHERE job = $2 AND attempt = $3"
    await run_sql(store, sql, *which)
    ended = "fence = $3 AND attempt_status IS NOT NULL"
    await run_sql(store, f"UPDATE hanbeon.job SET {own} = {own} + $1 WHERE seq = $2 AND {ended}", *which)
    # How long all succeeded ones ran is kept, too, separately from what the test is about.
    await store.number_events()
    await store.fold()
    ran = (
        "SELECT coalesce(sum(CASE WHEN j.finished_at > j.started_at THEN j.finished_at - j.started_at ELSE 0 END), 0) "
        "FROM hanbeon.job AS j WHERE j.state = 'succeeded' AND (j.lane >> 32) = queue_id"
    )
    await run_sql(store, f"UPDATE hanbeon.tally SET ran_us = ({ran}) WHERE state = 'succeeded'")


async def end_attempt(store: Store, job_id: str, attempt: int) -> None:
    """Write an attempt's row that nobody wrote."""
    job = await store.job(job_id)
    await run_sql(
        store,
        "INSERT INTO hanbeon.past_attempt (job, attempt, status, started_at, ended_at) "
        "VALUES ($1, $2, 'completed', $3, $3)",
        job.seq,
        attempt,
        job.started_at,
    )


async def first_id_of_a_batch(store: Store, at_least: int = 1) -> int:
    """The number of a batch in the middle whose predecessor holds at least so many events."""
    rows = await run_sql(store, "SELECT first_id, count FROM hanbeon.event_batch ORDER BY first_id")
    pairs = list(pairwise(rows))
    return int(next(row["first_id"] for before, row in pairs[:-1] if before["count"] >= at_least))
