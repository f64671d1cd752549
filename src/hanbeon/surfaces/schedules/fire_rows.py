"""Due schedules become executions: decided, created and recorded in one transaction, under the schedules' locks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.executions import ExecutionType
from hanbeon.domain.timing.fire_times import jitter_of
from hanbeon.store.operations.executions import ExecutionRequest, make
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.tasks import KnownTask, lock_tasks, unfinished_executions
from hanbeon.store.operations.totals import add_totals
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.schedules.decide import Decision, Fired, decide, take_turn
from hanbeon.surfaces.schedules.definition import Definition
from hanbeon.surfaces.schedules.misfire import Overlap, Plan, grace_of, plan
from hanbeon.surfaces.schedules.vocabulary import FIRES, FireOutcome, FireReason


class FireLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A line of the history."""

    schedule_id: str
    fire_at: int
    outcome: FireOutcome
    reason: FireReason | None = None
    execution_id: str | None = None
    more: int = 0


async def write_fires(tx: Tx, lines: list[FireLine]) -> None:
    """Write the lines. A second line for the same fire violates its key, and rolls the transaction back."""
    if not lines:
        return
    if tx.fast is None or not await tx.fast.copy_rows(tx, "fire", lines, now="recorded_at"):
        await tx.fetch("insert_fires", to_json(lines))
    counted: Counter[tuple[FireOutcome, FireReason | None]] = Counter()
    for line in lines:
        counted[line.outcome, line.reason] += 1 + line.more
    await add_totals(tx, {FIRES.of(*filter(None, labels)): count for labels, count in counted.items()})


# Most due schedules have been due before, and a schedule rarely changes.
_definition = lru_cache(maxsize=4_096)(msgspec.json.Decoder(Definition).decode)
NewId = Callable[[], str]
_FIRST_ID = "00000000-0000-0000-0000-000000000000"


class Moment(NamedTuple):
    """Microseconds until the next schedule is due (negative: overdue); `waiting`: fires wait for their tasks."""

    wait_us: int | None
    waiting: bool


class Firing(msgspec.Struct, frozen=True):
    """The result of a step: the number of schedules processed, and the lines of the history."""

    schedules: int = 0
    lines: list[FireLine] = []
    latest_us: int = 0
    """The greatest lateness of the decided fires."""
    last_id: str | None = None
    """The last schedule processed, if more may follow in the order of ids."""

    @property
    def outcomes(self) -> dict[str, int]:
        """The number of lines per outcome."""
        return dict(Counter(line.outcome.value for line in self.lines))

    @property
    def fires(self) -> Counter[FireOutcome]:
        """The number of fires per outcome, including those that share a line."""
        counted: Counter[FireOutcome] = Counter()
        for line in self.lines:
            counted[line.outcome] += 1 + line.more
        return counted


class _Due(msgspec.Struct, frozen=True, gc=False):
    """A locked schedule with its decision; `plan` is None for one whose fires only wait."""

    id: str
    task_id: int
    definition: Definition
    last_fire_at: int | None
    plan: Plan | None
    decision: Decision
    created: list[int]


class _Position(NamedTuple):
    """The new position of a schedule; many that are due together share it."""

    last_fire_at: int | None
    waiting: str | None
    considered_to: int
    next_fire_at: int | None
    due_at: int | None


async def next_moment(tx: Tx) -> Moment:
    row = (await tx.fetch("next_fire"))[0]
    return Moment(row["wait_us"], bool(row["waiting"]))


async def fire_due(tx: Tx, lanes: LaneCache, new_id: NewId, grace_us: int, limit: int) -> Firing:
    """Process the next schedules that are due and not locked by another instance."""
    rows = await tx.fetch("due_schedules", limit)
    # One instant for all, not later than their locks. Schedules that are due together were mostly decided together
    # before: those with equal times share one plan, and those with equal definitions share one decision.
    now = min((row["now"] for row in rows), default=0)
    plans, graces = cache(plan), cache(grace_of)

    @cache
    def shared(text: str, considered_to: int, waiting: str | None, busy: bool, jittered: str) -> tuple[Plan, Decision]:
        definition = _definition(text)
        grace = graces(definition.timing, considered_to, now, grace_us + definition.timing.jitter_us)
        found = plans(definition.timing, considered_to, now, definition.misfire, definition.misfire_limit, grace)
        planned = _without_put_off(jittered, definition, considered_to, now, found)
        return planned, decide(planned, definition, busy=busy, waiting=_waiting(waiting), late_before=now - grace)

    def decided(row: Any, definition: Definition, busy: bool) -> tuple[Plan | None, Decision]:
        jittered = str(row["id"]) if definition.timing.jitter_us else ""
        return shared(row["definition"], row["considered_to"], row["waiting"], busy, jittered)

    return await _fire(tx, lanes, new_id, rows, decided, limit)


async def fire_waiting(tx: Tx, lanes: LaneCache, new_id: NewId, limit: int, after: str | None = None) -> Firing:
    """Release fires that waited until their task was free, of the next schedules after an id.

    The caller resumes after the last one: many schedules whose tasks stay busy must not starve the others.
    """
    rows = await tx.fetch("waiting_schedules", limit, after or _FIRST_ID)

    def decided(row: Any, definition: Definition, busy: bool) -> tuple[Plan | None, Decision]:
        return None, take_turn(definition, busy=busy, waiting=_waiting(row["waiting"]))

    fired = await _fire(tx, lanes, new_id, rows, decided, limit)
    at_the_end = len(rows) < limit and fired.schedules == len(rows)
    return msgspec.structs.replace(fired, last_id=None if at_the_end else str(rows[fired.schedules - 1]["id"]))


def _without_put_off(schedule_id: str, definition: Definition, considered_to: int, now: int, found: Plan) -> Plan:
    """Return the plan without the last fires that their jitter delays."""
    jitter_us = definition.timing.jitter_us
    if not jitter_us:
        return found
    fires = list(found.fires)
    after = found.next_fire_at
    while fires and fires[-1].at + jitter_of(schedule_id, fires[-1].at, jitter_us) > now:
        after = fires.pop().at
    last = fires[-1].at if fires else considered_to
    return msgspec.structs.replace(found, fires=fires, last=last, next_fire_at=after)


async def _fire(
    tx: Tx,
    lanes: LaneCache,
    new_id: NewId,
    rows: Sequence[Any],
    decided: Callable[[Any, Definition, bool], tuple[Plan | None, Decision]],
    most_lines: int,
) -> Firing:
    """Decide schedules until the history has `most_lines` lines, at least one; the others are left for the next step.

    After a long time without any instance each has hundreds: all of them in one step would delay the heartbeats of this
    instance while it plans, and exceed the time limit of a transaction, again and again.
    """
    if not rows:
        return Firing()
    tasks = {task.id: task for task in await lock_tasks(tx, {row["task_id"] for row in rows})}
    busy = set(await unfinished_executions(tx, tasks.keys()))
    due: list[_Due] = []
    decided_lines = 0
    for row in rows:
        if decided_lines >= most_lines:
            break
        definition = _definition(row["definition"])
        planned, decision = decided(row, definition, row["task_id"] in busy)
        if decision.busy:
            busy.add(row["task_id"])
        of, last = row["task_id"], row["last_fire_at"]
        due.append(_Due(str(row["id"]), of, definition, last, planned, decision, decision.created))
        decided_lines += len(decision.fired) + len(decision.waiting)
    wanted = [_wanted(each, at, tasks[each.task_id], new_id()) for each in due for at in each.created]
    made = await make(tx, lanes, wanted) if wanted else set()
    ids = iter([each.id if each.id in made else None for each in wanted])  # In the order of the lines below.
    lines = [_line(each, fired, ids) for each in due for fired in each.decision.fired]
    await write_fires(tx, lines)
    await _advance(tx, due)
    now = rows[0]["now"]
    first = min((line.fire_at for line in lines), default=now)
    return Firing(len(due), lines, now - first)


async def _advance(tx: Tx, due: Sequence[_Due]) -> None:
    """Advance the schedules past all that has been decided."""
    ahead: defaultdict[_Position, list[str]] = defaultdict(list)
    turns: list[dict[str, Any]] = []
    for each in due:
        last = max(max(each.created, default=0), each.last_fire_at or 0) or None
        waiting = to_json(each.decision.waiting) if each.decision.waiting else None
        if each.plan is None:
            turns.append({"id": each.id, "last_fire_at": last, "waiting": waiting})
            continue
        after = each.plan.next_fire_at
        due_at = None if after is None else after + jitter_of(each.id, after, each.definition.timing.jitter_us)
        ahead[_Position(last, waiting, each.plan.last, after, due_at)].append(each.id)
    if ahead:
        await tx.fetch("advance_schedules", to_json([{"ids": ids, **at._asdict()} for at, ids in ahead.items()]))
    if turns:
        await tx.fetch("set_waiting", to_json(turns))


def _wanted(due: _Due, at: int, task: KnownTask, execution_id: str) -> ExecutionRequest:
    return ExecutionRequest(
        id=execution_id,
        task=task,
        type=ExecutionType.SCHEDULE,
        args=due.definition.args,
        alone=due.definition.overlap is not Overlap.ALLOW,
        schedule_id=due.id,
        fire_at=at,
    )


def _line(due: _Due, fired: Fired, ids: Iterator[str | None]) -> FireLine:
    """Return the history line of a fire; `ids` yields the execution of each fire that was to create one."""
    outcome, reason, execution_id = fired.outcome, fired.reason, None
    if outcome is FireOutcome.CREATED:
        execution_id = next(ids)
        if execution_id is None:  # An operator retried an old execution just now, which holds the key.
            outcome, reason = FireOutcome.SKIPPED, FireReason.OVERLAP
    return FireLine(
        schedule_id=due.id,
        fire_at=fired.at,
        outcome=outcome,
        reason=reason,
        execution_id=execution_id,
        more=fired.more,
    )


def _waiting(text: str | None) -> list[int]:
    return [] if text is None else msgspec.json.decode(text, type=list[int])
