"""The counts of queues: folded from the deltas stored with the events, and read together with the unfolded ones.

A transaction that moves jobs only appends its delta. So there is no row for which all of them compete, and reads are
exact nevertheless: both parts come from one snapshot.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from hanbeon.domain.event_groups import deltas_of, queues_of
from hanbeon.domain.lifecycle import State
from hanbeon.domain.reserved_queues import is_indexed
from hanbeon.domain.statistics import QueueStatistics, all_states, summarise
from hanbeon.domain.tally import COARSE_SLOT_US, SLOT_US, Delta, Flow, Stock
from hanbeon.errors import NotFound
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.store.records import free_since, lanes_of_queue, queue_of
from hanbeon.store.tx import Tx, in_parts, to_json

_EVERY_QUEUE = (0, 2**62)
_EVERY_LANE = (0, 2**62)
_READY_LANES = 1000
_FINE_US = 24 * 3_600 * 1_000_000
_COARSENED_US = 6 * 3_600 * 1_000_000
_ROWS_A_STATEMENT = 5000
_GROUPS_KNOWN = 5000
_deltas = msgspec.json.Decoder(dict[str, Delta])
_flows = msgspec.json.Decoder(Flow)


class UnfoldedBatches:
    """Reads what the tallies do not include yet. Event groups are derived once: a batch never changes.

    One object for each open database, for transactions that only read: a number that is rolled back is used again. So
    it is if a server fails over to a replica that was behind, but not at the same microsecond.
    """

    def __init__(self) -> None:
        self._groups: dict[tuple[int, int], dict[str, Delta]] = {}
        self.behind = 0
        """How many there were at the last read."""

    async def read(self, tx: Tx) -> list[tuple[int, dict[str, Delta]]]:
        """Return the instant and the deltas of each batch, which are not to be changed."""
        rows, known = await tx.fetch("unfolded"), self._groups
        self.behind = len(rows)
        groups = {row["seq"]: row["at"] for row in rows if row["delta"] is None}
        derived = {seq: known[seq, at] for seq, at in groups.items() if (seq, at) in known}
        for part in in_parts([seq for seq in groups if seq not in derived], _ROWS_A_STATEMENT):
            for row in await tx.fetch("group_bodies", to_json(part)):
                derived[row["seq"]] = _derived(row["body"], groups[row["seq"]])
        # Without a worker that folds, there may be any number.
        keep = len(groups) <= _GROUPS_KNOWN
        self._groups = {(seq, at): derived[seq] for seq, at in groups.items()} if keep else {}
        return [
            (row["at"], derived[row["seq"]] if row["delta"] is None else _deltas.decode(row["delta"])) for row in rows
        ]


async def fold(tx: Tx, limit: int, rest_us: int = 0) -> int:
    """Add the next `limit` batches of deltas to the tallies and to the event index of queues; return how many.

    Each is folded once: the row of `fold` holds the position and is locked until the commit. Nothing is done while
    another transaction holds it, or if the last fold was less than `rest_us` ago.
    """
    found = await tx.fetch("lock_fold", rest_us)
    if not found:
        return 0
    batches = await tx.fetch("foldable", found[0]["folded_to"], limit)
    if not batches:
        return 0
    stocks: defaultdict[str, Stock] = defaultdict(Stock)
    flows: defaultdict[tuple[str, int], Flow] = defaultdict(Flow)
    indexed: list[dict[str, Any]] = []
    for batch in batches:
        for queue, delta in _read(batch).items():
            stocks[queue].add(delta.stock)
            flows[queue, _slot(batch["at"])].add(delta.flow)
            if is_indexed(queue):
                indexed.append({"queue": queue, "first_id": batch["first_id"]})
    await _add_stocks(tx, stocks)
    await _add_flows(tx, flows)
    for part in in_parts(indexed, _ROWS_A_STATEMENT):
        await tx.fetch("add_queue_batches", to_json(part))
    await tx.fetch("advance_fold", batches[-1]["first_id"] + batches[-1]["count"] - 1)
    return len(batches)


def index_entries(batches: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the index entries of these batches: one for each indexed queue that a batch has events of."""
    return [
        {"queue": queue, "first_id": batch["first_id"]}
        for batch in batches
        for queue in _queues(batch)
        if is_indexed(queue)
    ]


def _queues(batch: Any) -> Collection[str]:
    if batch["delta"] is not None:
        return _deltas.decode(batch["delta"])
    try:
        return queues_of(batch["body"])
    except msgspec.DecodeError:
        return ()


async def counts(tx: Tx, queue: str | None, batches: UnfoldedBatches) -> dict[State, int]:
    """Return the number of jobs per state, of one queue or of all. The cost does not depend on the number of jobs."""
    return all_states(await stock(tx, queue, batches))


async def stock(tx: Tx, queue: str | None, batches: UnfoldedBatches) -> Stock:
    """Return the stock of one queue or of all, with the total run time of succeeded jobs."""
    return await _total(tx, queue, await _range(tx, queue), await batches.read(tx))


async def statistics(tx: Tx, queue: str | None, window_us: int, batches: UnfoldedBatches) -> dict[str, QueueStatistics]:
    """Return the statistics of one queue or of all, by name, now and over the last `window_us`."""
    if queue is not None:
        return await statistics_of(tx, {(await _range(tx, queue))[0]: queue}, window_us, batches)
    names = {row["id"]: row["name"] for row in await tx.fetch("queues")}
    now: int = (await tx.fetch("now"))[0]["now"]
    since = _slot(now - window_us)
    tallied, timed = await tx.fetch("tallies", *_EVERY_QUEUE), await tx.fetch("timings_of_all", since)
    return await _summaries(tx, names, (tallied, timed), (since, now), batches)


async def statistics_of(
    tx: Tx, names: Mapping[int, str], window_us: int, batches: UnfoldedBatches
) -> dict[str, QueueStatistics]:
    """Like `statistics`, of these queues. The others are not looked at."""
    ids, now = to_json(list(names)), (await tx.fetch("now"))[0]["now"]
    since = _slot(now - window_us)
    tallied, timed = await tx.fetch("tallies_of_queues", ids), await tx.fetch("timings_of_queues", ids, since)
    return await _summaries(tx, names, (tallied, timed), (since, now), batches)


async def _summaries(
    tx: Tx,
    names: Mapping[int, str],
    folded: tuple[Iterable[Any], Iterable[Any]],
    span: tuple[int, int],
    batches: UnfoldedBatches,
) -> dict[str, QueueStatistics]:
    """Add what is not folded to the rows of tallies and timings."""
    (tallied, timed), (since, now) = folded, span
    stocks: defaultdict[str, Stock] = defaultdict(Stock)
    flows: defaultdict[str, Flow] = defaultdict(Flow)
    for row in tallied:
        stocks[names[row["queue_id"]]].add(_stock(row))
    for row in timed:
        flows[names[row["queue_id"]]].add(_flows.decode(row["flow"]))
    for at, deltas in await batches.read(tx):
        for name, delta in deltas.items():
            stocks[name].add(delta.stock)
            if at >= since:
                flows[name].add(delta.flow)
    ready = [queue_id for queue_id, name in names.items() if stocks[name].count(State.READY) > 0]
    oldest = await _oldest_ready(tx, [lanes_of_queue(queue_id) for queue_id in ready]) if ready else {}
    return {
        name: summarise(stocks[name], flows[name], oldest_ready_us=oldest.get(queue_id), span_us=max(1, now - since))
        for queue_id, name in names.items()
    }


async def longest_waits(tx: Tx) -> dict[int, int]:
    """Return how long the oldest ready job of each queue has waited, by the id of the queue, in microseconds.

    One statement for all queues, which looks at the first `_READY_LANES` lanes with ready jobs.
    """
    return await _oldest_ready(tx, [_EVERY_LANE])


async def longest_waits_of(tx: Tx, queue_ids: Collection[int]) -> dict[int, int]:
    """Return the same of these queues, each of which may have so many lanes."""
    return await _oldest_ready(tx, [lanes_of_queue(queue_id) for queue_id in queue_ids]) if queue_ids else {}


async def coarsen(tx: Tx, limit: int) -> int:
    """Join the minutes of a day ago to the coarser slots in which they are kept; return how many rows that were."""
    end: int = (await tx.fetch("now"))[0]["now"] - _FINE_US
    end -= end % COARSE_SLOT_US
    # Some hours back are enough: minutes that are older, after a long pause, are more rows and not wrong.
    fine = await tx.fetch("fine_timings", end - _COARSENED_US, end, COARSE_SLOT_US, limit)
    # The row of `fold` guards the timings.
    if not fine or not await tx.fetch("lock_fold", 0):
        return 0
    flows: defaultdict[tuple[int, int], Flow] = defaultdict(Flow)
    for row in fine:
        flows[row["queue_id"], row["slot"] - row["slot"] % COARSE_SLOT_US].add(_flows.decode(row["flow"]))
        await tx.fetch("delete_timing", row["queue_id"], row["slot"])
    for place, flow in flows.items():
        for row in await tx.fetch("timing", *place):
            flow.add(_flows.decode(row["flow"]))
    joined = [{"queue_id": queue_id, "slot": slot, "flow": to_json(flow)} for (queue_id, slot), flow in flows.items()]
    await tx.fetch("put_timings", to_json(joined))
    return len(fine)


async def flows_between(
    tx: Tx, queue: str | None, start: int, end: int, step: int, batches: UnfoldedBatches
) -> tuple[Stock, dict[int, Flow]]:
    """Return the stock of one queue or of all, and what went through in each step that begins from `start` on."""
    ids, unfolded = await _range(tx, queue), await batches.read(tx)
    total = await _total(tx, queue, ids, unfolded)
    if queue is None:
        rows = await tx.fetch("timings_between", start, end)
    else:
        rows = await tx.fetch("timings_of_queue_between", ids[0], start, end)
    flows: defaultdict[int, Flow] = defaultdict(Flow)
    for row in rows:
        flows[row["slot"] - row["slot"] % step].add(_flows.decode(row["flow"]))
    for at, deltas in unfolded:
        if start <= at < end:
            for name, delta in deltas.items():
                if queue is None or name == queue:
                    flows[at - at % step].add(delta.flow)
    return total, dict(flows)


async def stocks(tx: Tx) -> dict[str, Stock]:
    """Return the stock of every queue by name, from the tallies: to be compared with `recount`."""
    found = await _by_queue(tx, await tx.fetch("tallies", *_EVERY_QUEUE))
    for _, deltas in await UnfoldedBatches().read(tx):
        for name, delta in deltas.items():
            found[name].add(delta.stock)
    return found


async def recount(tx: Tx, after: int = -(2**63), last: int = 2**63 - 1) -> dict[str, Stock]:
    """Return the stock of every queue by name, from a count of all jobs, or of those in a range."""
    return await _by_queue(tx, await tx.fetch("audit_counts", after, last))


async def _by_queue(tx: Tx, rows: Sequence[Any]) -> defaultdict[str, Stock]:
    names = {row["id"]: row["name"] for row in await tx.fetch("queues")}
    found: defaultdict[str, Stock] = defaultdict(Stock)
    for row in rows:
        found[names.get(row["queue_id"], f"#{row['queue_id']}")].add(_stock(row))
    return found


async def _total(
    tx: Tx, queue: str | None, ids: tuple[int, int], unfolded: list[tuple[int, dict[str, Delta]]]
) -> Stock:
    total = Stock()
    for row in await (tx.fetch("tally_totals") if queue is None else tx.fetch("tallies", *ids)):
        total.add(_stock(row))
    for _, deltas in unfolded:
        for name, delta in deltas.items():
            if queue is None or name == queue:
                total.add(delta.stock)
    return total


async def _range(tx: Tx, queue: str | None) -> tuple[int, int]:
    if queue is None:
        return _EVERY_QUEUE
    for row in await tx.fetch("queue_named", queue):
        return row["id"], row["id"]
    raise NotFound(Rule("queue_not_found", queue=quoted(queue)))


async def _oldest_ready(tx: Tx, lanes: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return how long the oldest ready job of each queue has waited, of so many lanes of each range."""
    ranges = to_json([{"low": low, "high": high} for low, high in lanes])
    found: dict[int, int] = {}
    for head in await tx.fetch("oldest_ready", ranges, _READY_LANES):
        queue_id = queue_of(head["lane"])
        found[queue_id] = max(found.get(queue_id, 0), head["now"] - free_since(head))
    return found


async def _add_stocks(tx: Tx, stocks: dict[str, Stock]) -> None:
    rows = [
        {"queue": queue, "state": state, "jobs": stock.count(state), "ran_us": ran}
        for queue, stock in stocks.items()
        for state in State
        if (ran := stock.ran if state is State.SUCCEEDED else 0) or stock.count(state)
    ]
    if rows:
        await tx.fetch("add_to_tally", to_json(rows))


async def _add_flows(tx: Tx, flows: dict[tuple[str, int], Flow]) -> None:
    flows = {place: flow for place, flow in flows.items() if flow != Flow()}
    if not flows:
        return
    places = [{"queue": queue, "slot": slot} for queue, slot in flows]
    for row in await tx.fetch("timings_at", to_json(places)):
        flows[row["queue"], row["slot"]].add(_flows.decode(row["flow"]))
    rows = [{"queue": queue, "slot": slot, "flow": to_json(flow)} for (queue, slot), flow in flows.items()]
    await tx.fetch("write_timings", to_json(rows))


def _stock(row: Any) -> Stock:
    return Stock({State(row["state"]): row["jobs"]}, row["ran_us"])


def _read(batch: Any) -> dict[str, Delta]:
    """Return the deltas of a batch; those of event groups are not stored, and derived from the events."""
    return _derived(batch["body"], batch["at"]) if batch["delta"] is None else _deltas.decode(batch["delta"])


def _derived(body: str, at: int) -> dict[str, Delta]:
    try:
        return deltas_of(body, at)
    except msgspec.DecodeError:
        return {}  # The audit reports the batch, and that the tallies are wrong.


def _slot(at: int) -> int:
    return at - at % SLOT_US
