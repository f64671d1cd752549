"""Numbers of the installation and of its largest queues, by few statements: open pages ask for them all the time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hanbeon.domain.lifecycle import TERMINAL, State
from hanbeon.domain.reserved_queues import counted_prefixes, reserved_prefix
from hanbeon.store.operations import queries, tallies
from hanbeon.store.operations.queues import QueuePage, QueueRecord, queues_after, queues_by_id
from hanbeon.store.tx import Tx, in_parts, to_json


class LateQueue(NamedTuple):
    """A queue, and how long its oldest ready job has waited."""

    name: str
    waited_us: int


class Overview(NamedTuple):
    at: int
    states: dict[State, int]
    queues: int
    oldest_ready_us: int | None
    late: list[LateQueue]
    """The longest wait first."""
    paused: list[LateQueue]
    """Those that are paused with ready jobs, however long these have waited."""
    workers: int
    slots: int


async def read_overview(tx: Tx, alive_within_us: int, late_us: int, batches: tallies.UnfoldedBatches) -> Overview:
    """Return the numbers of the whole installation; the cost depends neither on jobs nor on idle queues.

    `late_us`: the wait from which on a queue is late.
    """
    states = await tallies.counts(tx, None, batches)
    waits = await tallies.longest_waits(tx) if states[State.READY] > 0 else {}
    waiting = await queues_by_id(tx, waits) if waits else []
    late = [each for each in waiting if not each.paused and waits[each.id] > late_us]
    paused = [each for each in waiting if each.paused]
    capacity = (await tx.fetch("capacity", alive_within_us))[0]
    return Overview(
        at=await queries.now_us(tx),
        states=states,
        queues=(await tx.fetch("queue_count"))[0]["queues"],
        oldest_ready_us=max(waits.values(), default=None),
        late=_by_wait(late, waits),
        paused=_by_wait(paused, waits),
        workers=capacity["workers"],
        slots=capacity["slots"],
    )


def _by_wait(queues: Iterable[QueueRecord], waits: Mapping[int, int]) -> list[LateQueue]:
    found = [LateQueue(each.name, waits[each.id]) for each in queues]
    return sorted(found, key=lambda each: -each.waited_us)


async def queue_page(
    tx: Tx, after: str, limit: int, window_us: int, like: str | None, batches: tallies.UnfoldedBatches
) -> QueuePage:
    """Return the queues that follow this name and hold the text `like`, with their statistics."""
    page = await queues_after(tx, after, limit, like)
    numbers = await tallies.statistics_of(tx, {each.id: each.name for each in page.items}, window_us, batches)
    return QueuePage(page, numbers, await queries.now_us(tx))


OTHERS = "*"
"""The name of all queues that are not shown by their own, of which one may be called that."""
_ID_LENGTH = 36
_NAMES_A_STATEMENT = 5_000
_States = Counter[State]


class QueueNumbers(NamedTuple):
    """The jobs of a queue by state, or of several, and how long the oldest ready one has waited."""

    states: Mapping[State, int]
    oldest_ready_us: int | None


class Numbers(NamedTuple):
    """The largest queues by name, with the sum of the others as `OTHERS`, and the jobs by reserved prefix and state."""

    queues: dict[str, QueueNumbers]
    reserved: Mapping[tuple[str, State], int]


async def read_numbers(tx: Tx, most: int, batches: tallies.UnfoldedBatches) -> Numbers:
    """Return the numbers, with those of the `most` largest queues by name."""
    changes: defaultdict[str, _States] = defaultdict(Counter)
    for _, deltas in await batches.read(tx):
        for name, delta in deltas.items():
            changes[name].update({state: delta.stock.count(state) for state in State})
    total: _States = Counter({State(row["state"]): row["jobs"] for row in await tx.fetch("tally_totals")})
    # Only queues with unfolded changes can overtake others, and the one called like the sum is part of it.
    rows = list(await tx.fetch("largest_queues", most + len(changes) + 1))
    for part in in_parts(list(changes), _NAMES_A_STATEMENT):
        rows += await tx.fetch("tallies_named", to_json(part))
    known, ids = _folded(rows)
    for name, change in changes.items():
        total.update(change)
        known.setdefault(name, Counter()).update(change)
    named = sorted((name for name in known if name != OTHERS and name in ids), key=lambda name: _place(known, name))
    named = named[:most]
    waits = await _waits(tx, {ids[name]: name for name in named if known[name][State.READY] > 0})
    found = {name: QueueNumbers(_all(known[name]), waits.get(name)) for name in named}
    if (await tx.fetch("queue_count"))[0]["queues"] > len(named):
        for name in named:
            total.subtract(known[name])
        waited = None
        if total[State.READY] > 0:
            waited = (await tx.fetch("longest_wait_elsewhere", to_json([ids[name] for name in named])))[0]["waited_us"]
        found[OTHERS] = QueueNumbers(_all(total), waited)
    return Numbers(found, await _reserved(tx, changes))


def _folded(rows: Iterable[Any]) -> tuple[dict[str, _States], dict[str, int]]:
    """The folded counts of queues, and the ids of these, by name. A queue may come twice."""
    known: dict[str, _States] = {}
    ids: dict[str, int] = {}
    for row in rows:
        ids[row["name"]] = row["id"]
        states = known.setdefault(row["name"], Counter())
        if row["state"] is not None:
            states[State(row["state"])] = row["jobs"]
    return known, ids


def _place(known: Mapping[str, _States], name: str) -> tuple[int, int, str]:
    """Sorts the largest first."""
    states = known[name]
    return -sum(number for state, number in states.items() if state not in TERMINAL), -states.total(), name


async def _waits(tx: Tx, names: Mapping[int, str]) -> dict[str, int]:
    found = await tallies.longest_waits_of(tx, names)
    return {names[queue_id]: max(0, waited) for queue_id, waited in found.items()}


async def _reserved(tx: Tx, changes: Mapping[str, _States]) -> Mapping[tuple[str, State], int]:
    """The jobs of all queues with a prefix that is counted."""
    counted = {each.prefix: each.queue("") for each in counted_prefixes()}
    rows = [{"prefix": name, "start": start, "length": len(start) + _ID_LENGTH} for name, start in counted.items()]
    found: Counter[tuple[str, State]] = Counter()
    for row in await tx.fetch("prefix_tallies", to_json(rows)):
        found[row["prefix"], State(row["state"])] += row["jobs"]
    for name, change in changes.items():
        if (reserved := reserved_prefix(name)) is not None and reserved.counted:
            found.update({(reserved.prefix, state): number for state, number in change.items()})
    return found


def _all(states: _States) -> dict[State, int]:
    return {state: states[state] for state in State}
