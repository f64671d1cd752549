"""Checks fires and executions against the definitions in force: every guarantee of schedules that can be counted."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.lifecycle import State
from hanbeon.store.store import Store
from tests.storm.journal import Journal
from tests.storm.moments import rows_of
from tests.storm.schedules.tasks import ALONE
from tests.storm.schedules.witness import InForce, Life, lives

BY_A_CHANGE = ("changed", "paused", "deleted")

_FIRES = """
SELECT CAST(f.schedule_id AS text) AS schedule, f.fire_at, f.outcome, f.reason, f.more, f.recorded_at,
  CAST(f.execution_id AS text) AS execution
FROM hanbeon.fire AS f ORDER BY f.schedule_id, f.fire_at
"""
_EXECUTIONS = """
SELECT CAST(j.id AS text) AS id, j.seq, e.type, CAST(e.schedule_id AS text) AS schedule, e.scheduled_at, j.args, j.task,
  j.state, j.created_at, j.finished_at
FROM hanbeon.execution AS e JOIN hanbeon.jobs AS j ON j.seq = e.job ORDER BY j.seq
"""
_ATTEMPTS = """
SELECT a.job, a.attempt, a.status, a.started_at, a.ended_at
FROM hanbeon.attempt AS a JOIN hanbeon.execution AS e ON e.job = a.job
"""


class Judgement(NamedTuple):
    """The findings, and counts of everything, so that a run without events is not taken for a sound one."""

    findings: list[str]
    outcomes: Counter[str]
    executions: int
    attempts: Counter[str]


async def judge(store: Store, journal: Journal, asked_to_delete: Mapping[str, int]) -> Judgement:
    """Judge a run that has ended: no schedule fires any more, and no execution is unfinished."""
    fires = await rows_of(store, _FIRES)
    executions = {row["id"]: row for row in await rows_of(store, _EXECUTIONS)}
    attempts = await rows_of(store, _ATTEMPTS)
    known = await lives(store)
    by_schedule = defaultdict(list)
    for row in fires:
        by_schedule[row["schedule"]].append(row)
    findings = [
        *(f"fires of {each}, which nobody made" for each in by_schedule.keys() - known.keys()),
        *itertools.chain.from_iterable(
            _complete(schedule, life, by_schedule[schedule], asked_to_delete.get(schedule))
            for schedule, life in known.items()
        ),
        *(
            found
            for row in fires
            if row["schedule"] in known
            for found in _in_force(row, known[row["schedule"]], executions)
        ),
        *_one_for_each(fires, executions),
        *_apart(executions.values(), attempts),
        *_free(executions.values()),
        *_ran(executions, attempts, journal),
    ]
    outcomes = Counter(" ".join(filter(None, (row["outcome"], row["reason"]))) for row in fires)
    return Judgement(findings, outcomes, len(executions), Counter(row["status"] for row in attempts))


def _complete(schedule: str, life: Life, fires: Sequence[Any], asked_at: int | None) -> Iterator[str]:
    """Check that the history has exactly the instants of the times in force."""
    must, may = set[int](), set[int]()
    for begin, end in _stretches(life):
        if begin.paused:
            continue
        # A deletion shows only by the missing row, a moment after it has read the clock.
        surely = end if asked_at is None or begin.timed_since != life.definitions[-1].timed_since else asked_at
        for fire in begin.definition.timing.fires(begin.timed_since):
            if fire.at > end:
                break
            may.add(fire.at)
            if fire.at <= surely:
                must.add(fire.at)
    found = Counter(row["fire_at"] for row in fires)
    yield from (f"{schedule}: {at} is lost" for at in sorted(must - found.keys()))
    yield from (f"{schedule}: {at} was fired, but no definition then names it" for at in sorted(found.keys() - may))
    yield from (f"{schedule}: {at} {count} times" for at, count in found.items() if count > 1)
    yield from (f"{schedule}: {row['fire_at']} stands for {row['more']} more" for row in fires if row["more"])


def _stretches(life: Life) -> Iterator[tuple[InForce, int]]:
    """The first definition of each span of unchanged times, with the end of the span."""
    firsts = [next(group) for _, group in itertools.groupby(life.definitions, key=lambda each: each.timed_since)]
    for begin, following in itertools.zip_longest(firsts, firsts[1:]):
        if following is not None:
            yield begin, following.timed_since
        elif life.deleted_at is not None:
            yield begin, life.deleted_at
        else:
            assert begin.paused, "the end of a schedule that still fires is not known"


def _in_force(row: Any, life: Life, executions: Mapping[str, Any]) -> Iterator[str]:
    """Check each fire against the definition at the moment of writing: its decider held the lock on the schedule."""
    fire = f"{row['schedule']}: {row['fire_at']} ({row['outcome']} {row['reason']})"
    seen = life.at(row["recorded_at"])
    if seen is None:
        yield f"{fire} was decided before it was made, or after its deletion"
    elif row["reason"] not in BY_A_CHANGE and (seen.paused or row["fire_at"] <= seen.timed_since):
        yield f"{fire} was decided at {row['recorded_at']} while {seen} was in force"
    elif row["execution"] in executions:
        label = msgspec.json.decode(executions[row["execution"]]["args"])["label"]
        if label != seen.label:
            yield f"{fire} was made from {label!r} while {seen.label!r} was in force"


def _one_for_each(fires: Sequence[Any], executions: Mapping[str, Any]) -> Iterator[str]:
    """Check that each created fire has its own execution, and each scheduled execution such a fire."""
    recorded = Counter(
        (row["schedule"], row["fire_at"], row["execution"]) for row in fires if row["outcome"] == "created"
    )
    made = Counter(
        (row["schedule"], row["scheduled_at"], row["id"]) for row in executions.values() if row["type"] == "SCHEDULE"
    )
    yield from (f"recorded, but not made: {each}" for each in (recorded - made))
    yield from (f"made, but not recorded: {each}" for each in (made - recorded))


def _apart(executions: Any, attempts: Sequence[Any]) -> Iterator[str]:
    """Check that executions of a task without overlap follow each other, with all their attempts."""
    tasks = defaultdict(list)
    for row in executions:
        if row["task"].startswith(ALONE):
            tasks[row["task"]].append(row)
    spans = defaultdict(list)
    for row in attempts:
        spans[row["job"]].append((row["started_at"], row["ended_at"]))
    for task, rows in tasks.items():
        whole = [(row["created_at"], row["finished_at"]) for row in rows]
        tried = [span for row in rows for span in spans[row["seq"]]]
        for what, ends in (("executions", whole), ("attempts", tried)):
            for one, other in itertools.pairwise(sorted(ends)):
                if one[1] is None or other[0] < one[1]:
                    yield f"{what} of {task} overlap: {one} and {other}"


def _free(executions: Any) -> Iterator[str]:
    """Check that at each manual run no execution of the task was unfinished, even where overlaps are allowed."""
    tasks = defaultdict(list)
    for row in executions:
        tasks[row["task"]].append(row)
    for task, rows in tasks.items():
        for one in rows:
            if one["type"] != "MANUAL":
                continue
            made_at = one["created_at"]
            for other in rows:
                if other is not one and other["created_at"] <= made_at < (other["finished_at"] or made_at + 1):
                    yield f"{task} was run by hand at {made_at}, while {other['id']} was unfinished"


def _ran(executions: Mapping[str, Any], attempts: Sequence[Any], journal: Journal) -> Iterator[str]:
    """Check that every execution succeeded by one attempt whose body ran once, and that no attempt's body ran twice."""
    names = {row["seq"]: row["id"] for row in executions.values()}
    completed = Counter(f"{names[row['job']]} {row['attempt']}" for row in attempts if row["status"] == "completed")
    began, ran = (Counter(" ".join(words[1:3]) for words in journal.lines(word)) for word in ("began", "ran"))
    yield from (f"{row['id']} is {row['state']}" for row in executions.values() if row["state"] != State.SUCCEEDED)
    once = Counter(each.partition(" ")[0] for each in completed)
    yield from (f"{each} succeeded {once[each]} times" for each in executions if once[each] != 1)
    yield from (f"the body of {each} ran {count} times" for each, count in began.items() if count > 1)
    yield from (f"the body of {each} did not run to its end" for each in completed if ran[each] != 1)
