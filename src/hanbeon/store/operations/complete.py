"""running → anything else: results of live leases, and what expired leases leave behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hanbeon.domain.events import EventFactory, teller
from hanbeon.domain.lifecycle import TERMINAL, AttemptStatus, Reason, State
from hanbeon.domain.outcome import AttemptEnd, Held, Lost, Outcome, Returned, TimedOut, decide
from hanbeon.domain.totals import Total
from hanbeon.store.operations.dependencies import fail_dependents, meet_dependents, promote_these
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.totals import add_totals
from hanbeon.store.records import policy_of, queue_of
from hanbeon.store.tx import Tx, to_json


class CompletionReport(msgspec.Struct, frozen=True, gc=False):
    """How an attempt ended, as its instance tells it."""

    seq: int
    fence: int
    outcome: Outcome
    random_share: float = 0.0
    instance: int | None = None
    """Who tells it. A plain success of a known instance ends in one statement."""


class Completed(msgspec.Struct, frozen=True, gc=False):
    """What the database made of a report."""

    seq: int
    fence: int
    state: State
    reason: Reason
    at: int = 0
    retry_count: int | None = None
    """None: what it was at the claim."""


class Recovered(Completed, frozen=True, gc=False):
    """What the database made of an attempt whose instance is gone, with what that instance knew of it."""

    id: str = ""
    task: str = ""
    started_at: int = 0
    idempotency_key: str | None = None


async def complete(tx: Tx, book: LaneCache, reports: Sequence[CompletionReport]) -> list[Completed]:
    """Apply reports whose leases are still held. A stale fence or an expired lease is left out: refused."""
    # By lease, not by job: the late report of a lost attempt may travel with that of the attempt that followed it.
    told: dict[tuple[int, int], CompletionReport] = {}
    for report in reports:
        told.setdefault((report.seq, report.fence), report)
    settled = await _succeed(tx, book, told)
    for item in settled:
        del told[item.seq, item.fence]
    return settled + (await _settle(tx, book, told) if told else [])


async def _succeed(tx: Tx, book: LaneCache, told: Mapping[tuple[int, int], CompletionReport]) -> list[Completed]:
    """The plain successes among the reports, at once; what it leaves out is not one, or not to be accepted."""
    teller = next((report.instance for report in told.values()), None)
    returned = {
        report.seq: (report.fence, report.outcome.result)
        for report in told.values()
        if isinstance(report.outcome, Returned) and report.instance == teller
    }
    if teller is None or not returned:
        return []
    rows = await tx.fetch(
        "succeed",
        to_json(list(returned)),
        to_json(returned),
        teller,
    )
    if not rows:
        return []
    await book.learn(tx, [row["lane"] for row in rows])
    ending = AttemptEnd(Reason.SUCCEEDED, AttemptStatus.COMPLETED, 0)
    tell = _teller(ending, rows[0]["now"])
    for row in rows:
        _emit(tx, book, row, tell, seen=True)
    await meet_dependents(tx, book, [row["seq"] for row in rows])
    _wake_for_slots(tx, book, rows)
    return [Completed(row["seq"], row["fence"], ending.state, ending.reason, row["now"]) for row in rows]


async def _settle(tx: Tx, book: LaneCache, told: Mapping[tuple[int, int], CompletionReport]) -> list[Completed]:
    held = await tx.fetch("lock_running", to_json(sorted({seq for seq, _ in told})))
    rows = [row for row in held if (row["seq"], row["fence"]) in told]
    endings = {}
    for row in rows:
        report = told[row["seq"], row["fence"]]
        endings[row["seq"]] = decide(_held(row), report.outcome, report.random_share)
    return await _apply(tx, book, rows, endings, seen=True)


async def recover(tx: Tx, book: LaneCache, limit: int, random_share: float = 0.0) -> list[Recovered]:
    """Take jobs whose lease expired from whoever had them, and retry or fail them the normal way."""
    rows = await tx.fetch("expired", limit)
    endings = {row["seq"]: decide(_held(row), _vanished(row), random_share) for row in rows}
    await add_totals(tx, Counter(Total.RECOVERED.of(ending.state) for ending in endings.values()))
    settled = await _apply(tx, book, rows, endings, seen=False)
    return [_recovered(book, row, each) for row, each in zip(rows, settled, strict=True)]


def _recovered(book: LaneCache, row: Any, settled: Completed) -> Recovered:
    return Recovered(
        **msgspec.structs.asdict(settled),
        id=str(row["id"]),
        task=book.name(row["lane"]).task,
        started_at=row["started_at"],
        idempotency_key=row["idempotency_key"],
    )


def _held(row: Any) -> Held:
    return Held(row["retry_count"], policy_of(row["policy"]), row["stop_requested_at"] is not None)


def _vanished(row: Any) -> Outcome:
    overdue = row["deadline_at"] is not None and row["deadline_at"] <= row["now"]
    return TimedOut(unseen=True) if overdue else Lost()


async def _apply(
    tx: Tx, book: LaneCache, rows: Sequence[Any], endings: Mapping[int, AttemptEnd], *, seen: bool
) -> list[Completed]:
    """`seen`: somebody saw the work end just now, so that it is known how long it took."""
    if not rows:
        return []
    await book.learn(tx, [row["lane"] for row in rows])
    await tx.fetch("complete", to_json([_job_row(row, endings[row["seq"]]) for row in rows]))
    # Where the job ends with the attempt, its row is the record of both.
    past = [row for row in rows if endings[row["seq"]].state not in TERMINAL]
    if past:
        await tx.fetch("insert_attempts", to_json([_attempt_row(row, endings[row["seq"]]) for row in past]))
    for row in rows:
        _emit(tx, book, row, _teller(endings[row["seq"]], row["now"]), seen=seen)
    await _behind(tx, book, endings)
    if any(ending.state is not State.SUCCEEDED for ending in endings.values()):
        tx.wake("work", "later")  # A delayed retry needs a promoter to know its time, a released job a taker.
    _wake_for_slots(tx, book, rows)
    return [
        Completed(row["seq"], row["fence"], ending.state, ending.reason, row["now"], ending.retry_count)
        for row in rows
        for ending in (endings[row["seq"]],)
    ]


async def _behind(tx: Tx, book: LaneCache, endings: Mapping[int, AttemptEnd]) -> None:
    """What the ends mean for others, and for retries that need not wait."""
    succeeded = [seq for seq, ending in endings.items() if ending.state is State.SUCCEEDED]
    if succeeded:
        await meet_dependents(tx, book, succeeded)
    hopeless = [seq for seq, ending in endings.items() if ending.state in (State.FAILED, State.CANCELLED)]
    if hopeless:
        await fail_dependents(tx, book, hopeless)
    at_once = [seq for seq, ending in endings.items() if ending.delay_us is not None and ending.delay_us <= 0]
    if at_once:
        await promote_these(tx, book, at_once)


def _wake_for_slots(tx: Tx, book: LaneCache, rows: Sequence[Any]) -> None:
    if any(queue_of(row["lane"]) in book.limited for row in rows):
        tx.wake("work")


def _job_row(row: Any, ending: AttemptEnd) -> dict[str, Any]:
    return {
        "seq": row["seq"],
        "fence": row["fence"],
        "state": ending.state,
        "run_at": None if ending.delay_us is None else row["now"] + ending.delay_us,
        "retry_count": ending.retry_count,
        "result": ending.result,
        "failure_type": ending.failure_type,
        "message": ending.message,
        "finished_at": row["now"] if ending.state in TERMINAL else None,
        "status": ending.attempt if ending.state in TERMINAL else None,
        "free_at": row["now"] if ending.state is State.READY else None,
    }


def _attempt_row(row: Any, ending: AttemptEnd) -> dict[str, Any]:
    return {
        "job": row["seq"],
        "attempt": row["fence"],
        "status": ending.attempt,
        "instance": row["instance"],
        "started_at": row["started_at"],
        "deadline_at": row["deadline_at"],
        "ended_at": row["now"],
        "failure_type": ending.failure_type,
        "message": ending.message,
    }


def _emit(tx: Tx, book: LaneCache, row: Any, tell: EventFactory, *, seen: bool) -> None:
    name, now = book.name(row["lane"]), row["now"]
    took = now - row["started_at"] if seen else None
    tx.emit(tell(now, name.queue, str(row["id"]), name.task, row["fence"], took))


def _teller(ending: AttemptEnd, now: int) -> EventFactory:
    return teller(
        ending.reason,
        ending.state,
        status=ending.attempt.value,
        failure_type=ending.failure_type,
        message=ending.message,
        retry_at=None if ending.delay_us is None else now + ending.delay_us,
    )
