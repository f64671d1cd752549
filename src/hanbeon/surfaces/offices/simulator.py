"""A graph of jobs, run in virtual time under limits: how long it takes, and what the last job waited for."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.limits import NO_LIMIT, QueueLimits

_ROLES_TRIED = 4
_Waiting = tuple[tuple[Any, ...], int]
"""The order and the number of a job."""


class Cause(StrEnum):
    """Why a job did not start earlier."""

    DEPENDENCY = "dependency"
    SLOT = "slot"
    TIME = "time"
    """It was not due."""


class SimulatedJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job before its simulation. Times are microseconds from now.

    `order`: jobs with a lower one start first. `depends_on`: positions of other jobs. A job that runs already starts
    at once, whatever the limits are.
    """

    order: tuple[Any, ...]
    run_us: int
    role: str = ""
    due_us: int = 0
    depends_on: Sequence[int] = ()
    running: bool = False


class Step(NamedTuple):
    """A job's start in a simulation. `after`: the job whose end it waited for; `role`: whose slot, "" for any."""

    start_us: int
    end_us: int
    cause: Cause | None = None
    after: int | None = None
    role: str = ""


class Simulated(NamedTuple):
    """Steps in the order of the jobs."""

    steps: list[Step]

    @property
    def makespan_us(self) -> int:
        return max((step.end_us for step in self.steps), default=0)

    def critical_path(self) -> list[int]:
        """Return the jobs that determined the end, the first one first: each waited for the one before it."""
        ends = [step.end_us for step in self.steps]
        path: list[int] = []
        job = ends.index(max(ends)) if ends else None
        while job is not None:
            path.append(job)
            job = self.steps[job].after
        return path[::-1]


class AddedSlot(NamedTuple):
    """Limits raised by one: those of roles, and that of all jobs with "". `makespan_us`: with them."""

    limits: dict[str, int]
    makespan_us: int


def simulate(jobs: Sequence[SimulatedJob], limits: QueueLimits) -> Simulated:
    """Run the jobs as a worker with enough slots of its own would: what is ready starts in order, within the limits.

    Dependencies must not form a cycle. Each job and each dependency costs a step or two of a heap.
    """
    return _Run(jobs, limits).result()


def slot_to_add(jobs: Sequence[SimulatedJob], limits: QueueLimits, before: Simulated) -> AddedSlot | None:
    """Return the one slot more that shortens the whole most, or None if none does.

    Only a slot that a job of the critical path waited for can; of these, the ones waited for longest are tried. A slot
    of a role may be of use only with one more for all jobs.
    """
    waits: Counter[str] = Counter()
    for job in before.critical_path():
        step = before.steps[job]
        if step.cause is Cause.SLOT:
            ready = max((before.steps[each].end_us for each in jobs[job].depends_on), default=0)
            waits[step.role] += step.start_us - max(ready, jobs[job].due_us)
    roles = [role for role, _ in waits.most_common(_ROLES_TRIED)]
    with_all = [{role, ""} for role in roles if role] if limits.max_concurrent != NO_LIMIT else []
    best: AddedSlot | None = None
    for raised in [*({role} for role in roles), *with_all]:
        to = {role: (limits.for_role(role) if role else limits.max_concurrent) + 1 for role in sorted(raised)}
        makespan = simulate(jobs, _with(limits, to)).makespan_us
        if makespan < (best.makespan_us if best else before.makespan_us):
            best = AddedSlot(to, makespan)
    return best


def _with(limits: QueueLimits, changes: Mapping[str, int]) -> QueueLimits:
    """The limits with others for some roles; for all jobs with ""."""
    roles = {role: limit for role, limit in changes.items() if role}
    most = changes.get("", limits.max_concurrent)
    return msgspec.structs.replace(limits, max_concurrent=most, roles={**limits.roles, **roles})


class _Run:
    """The state of one simulation."""

    def __init__(self, jobs: Sequence[SimulatedJob], limits: QueueLimits) -> None:
        self._jobs, self._limits = jobs, limits
        self._steps: dict[int, Step] = {}
        # Since when a job only waits for a slot, and why not earlier.
        self._ready: dict[int, Step] = {}
        self._unmet = [len(set(job.depends_on)) for job in jobs]
        self._dependents: dict[int, list[int]] = {}
        for number, job in enumerate(jobs):
            for dependency in set(job.depends_on):
                self._dependents.setdefault(dependency, []).append(number)
        self._waiting: dict[str, list[_Waiting]] = {}
        # The first waiting job of each role with a free slot. What is here and is not the first any more, or whose role
        # has no free slot, is passed over: a scan of all roles for each start would cost jobs times roles.
        self._heads: list[_Waiting] = []
        self._running: Counter[str] = Counter()
        self._running_total = 0
        # Ends before what falls due at the same instant.
        self._agenda: list[tuple[int, bool, int]] = []

    def result(self) -> Simulated:
        for number, job in enumerate(self._jobs):
            if job.running:
                self._start(number, 0, Step(0, 0))
            elif not self._unmet[number]:
                self._release(number, 0, None)
        self._admit(0, {}, set())
        while self._agenda:
            now = self._agenda[0][0]
            # The last job of each role that ended now, and of all with ""; the roles that had no free slot before.
            ended: dict[str, int] = {}
            full: set[str] = set()
            while self._agenda and self._agenda[0][0] == now:
                _, due, number = heapq.heappop(self._agenda)
                if due:
                    self._wait(number)
                    continue
                role = self._jobs[number].role
                if role not in ended and self._is_full(role):
                    full.add(role)
                self._end(role)
                ended[role] = ended[""] = number
                for dependent in self._dependents.get(number, ()):
                    self._unmet[dependent] -= 1
                    if not self._unmet[dependent]:
                        self._release(dependent, now, number)
            self._admit(now, ended, full)
        return Simulated([self._steps[number] for number in range(len(self._jobs))])

    def _release(self, number: int, now: int, after: int | None) -> None:
        """All its dependencies have ended, the last one now: it waits for its time, or for a slot."""
        due = self._jobs[number].due_us
        if due > now:
            self._ready[number] = Step(due, due, Cause.TIME)
            heapq.heappush(self._agenda, (due, True, number))
            return
        self._ready[number] = Step(now, now, None if after is None else Cause.DEPENDENCY, after)
        self._wait(number)

    def _wait(self, number: int) -> None:
        job = self._jobs[number]
        waiting, entry = self._waiting.setdefault(job.role, []), (job.order, number)
        heapq.heappush(waiting, entry)
        if waiting[0] is entry and not self._is_full(job.role):
            heapq.heappush(self._heads, entry)

    def _is_full(self, role: str) -> bool:
        limit = self._limits.for_role(role)
        return limit != NO_LIMIT and self._running[role] >= limit

    def _admit(self, now: int, ended: Mapping[str, int], full: set[str]) -> None:
        """Start what may run, in order. `ended`: the last job of each role that ended now; `full`: before that."""
        most = self._limits.max_concurrent
        while self._heads and (most == NO_LIMIT or self._running_total < most):
            entry = heapq.heappop(self._heads)
            number = entry[1]
            role = self._jobs[number].role
            waiting = self._waiting[role]
            if not waiting or waiting[0] is not entry or self._is_full(role):
                continue
            heapq.heappop(waiting)
            ready = self._ready[number]
            if ready.start_us < now:
                waited_for = role if role in full and role in ended else ""
                ready = Step(now, now, Cause.SLOT, ended.get(waited_for), waited_for)
            self._start(number, now, ready)
            self._offer(role)

    def _start(self, number: int, now: int, why: Step) -> None:
        job = self._jobs[number]
        end = now + job.run_us
        self._steps[number] = Step(now, end, why.cause, why.after, why.role)
        self._running[job.role] += 1
        self._running_total += 1
        heapq.heappush(self._agenda, (end, False, number))

    def _end(self, role: str) -> None:
        freed = self._is_full(role)
        self._running[role] -= 1
        self._running_total -= 1
        if freed:
            self._offer(role)

    def _offer(self, role: str) -> None:
        """Let the first waiting job of a role be started if the role has a free slot."""
        if self._waiting.get(role) and not self._is_full(role):
            heapq.heappush(self._heads, self._waiting[role][0])
