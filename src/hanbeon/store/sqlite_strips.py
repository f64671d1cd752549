"""Strips on SQLite: few statements with few rows.

The driver gives the interpreter lock away for each row that it reads, and has to get it back from a busy event loop. So
the jobs are read as one value, and nothing is returned for a row that is changed.
"""

from __future__ import annotations

from functools import partial

import msgspec

from hanbeon.domain.event_strips import batch_of, job_text
from hanbeon.domain.job import Claimed, LaneName
from hanbeon.store.operations.claim import ClaimRequest, LanePosition
from hanbeon.store.records import policy_of
from hanbeon.store.sqlite import SqliteDatabase
from hanbeon.store.strips import Claims, Successes
from hanbeon.store.tx import Tx, to_json

LONGEST_TEXT = 8_192
"""A job with longer arguments or progress takes the general path: all of a strip must fit into one value."""


class _Head(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A job to be claimed."""

    seq: int
    id: str
    fence: int
    rank: int
    args: str | None
    progress: str | None
    retry_count: int
    timeout_us: int | None
    policy: str
    idempotency_key: str | None
    run_at: int
    since: int
    is_long: int


_heads = msgspec.json.Decoder(list[_Head])


class _Refused(Exception):
    """Not all of the attempts are as expected: what was written is rolled back."""


class SqliteStrips:
    """See `StripWriter`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def claim(self, name: LaneName, behind: LanePosition, request: ClaimRequest, event: str) -> Claims | None:
        claims, _ = await self._database.transact(
            partial(_claim, name=name, behind=behind, request=request, event=event)
        )
        return claims

    async def succeed(self, successes: Successes) -> int | None:
        try:
            now, _ = await self._database.transact(partial(_succeed, successes=successes))
        except _Refused:
            return None
        return now


async def _claim(tx: Tx, name: LaneName, behind: LanePosition, request: ClaimRequest, event: str) -> Claims | None:
    (found,) = await tx.fetch("strip_head", behind.lane, request.want, behind.rank, behind.seq, LONGEST_TEXT)
    heads, now = _heads.decode(found["jobs"]), found["now"]
    if not heads or any(head.is_long for head in heads):
        return None
    heads.sort(key=_order)
    # Nobody else writes meanwhile: the jobs are still as they were read.
    await tx.fetch("take_strip", to_json([head.seq for head in heads]), request.instance, now, request.lease_us)
    body = batch_of([(event, [job_text(head.id, head.fence, head.since) for head in heads])])
    await _write_event(tx, now, len(heads), body)
    return Claims([_claimed(head, name, behind.lane, now, request.instance) for head in heads], heads[-1].rank)


async def _succeed(tx: Tx, successes: Successes) -> int:
    seqs = successes.seqs
    now: int = (await tx.fetch("now"))[0]["now"]
    lease = (successes.fence, successes.instance, now)
    if successes.alike:
        await tx.fetch("succeed_strip", to_json(seqs), *lease, successes.results[0])
    else:
        await tx.fetch("succeed_each", to_json(list(zip(seqs, successes.results, strict=True))), *lease)
    if (await tx.fetch("changed_rows"))[0]["count"] != len(seqs):
        raise _Refused
    await _write_event(tx, now, len(seqs), successes.body)
    return now


async def _write_event(tx: Tx, at: int, count: int, body: str) -> None:
    """Write a batch and number it: there is one writer at a time, so write order is commit order."""
    await tx.fetch("insert_strip", at, count, body)
    await tx.fetch("add_to_event_counter", count)


def _order(head: _Head) -> tuple[int, int]:
    return head.rank, head.seq


def _claimed(head: _Head, lane: LaneName, number: int, now: int, instance: int) -> Claimed:
    assert head.args is not None
    return Claimed(
        seq=head.seq,
        id=head.id,
        fence=head.fence,
        queue=lane.queue,
        task=lane.task,
        role=lane.role,
        args=head.args,
        retry_count=head.retry_count,
        timeout_us=head.timeout_us,
        policy=policy_of(head.policy),
        idempotency_key=head.idempotency_key,
        run_at=head.run_at,
        started_at=now,
        progress=head.progress,
        instance=instance,
        lane=number,
    )
