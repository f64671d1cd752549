"""The store in a page of plain Python: what every command should do, without a database."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from hanbeon.domain.job import NewJob, OnConflict, OnDependencyFailure
from hanbeon.domain.lifecycle import LIFECYCLE, UNFINISHED, Reason, State
from hanbeon.domain.limits import QueueLimits, Usage
from hanbeon.domain.outcome import AttemptEnd, Held, Lost, Outcome, TimedOut, decide
from hanbeon.errors import UniqueKeyTaken, WrongState

WAITING = (State.PENDING, State.READY)
ENDED_BADLY = (State.FAILED, State.CANCELLED)


@dataclass
class ModelJob:
    """The expected state of a job."""

    new: NewJob
    place: int
    state: State
    run_at: int
    depends_on: list["ModelJob"]
    priority: int
    urgent: bool
    retry_count: int = 0
    fence: int = 0
    attempts: int = 0
    locked_until: int = 0
    deadline_at: int | None = None
    stop_requested: bool = False
    last_failure: str | None = None
    marked_done: bool = False

    @property
    def unmet(self) -> int:
        return sum(dependency.state is not State.SUCCEEDED for dependency in self.depends_on)

    @property
    def order(self) -> tuple[bool, int, int]:
        return (not self.urgent, self.priority, self.place)


@dataclass
class ModelQueue:
    limits: QueueLimits = field(default_factory=QueueLimits)
    paused: bool = False


class Model:
    """Every job ever made, by id, and the queues."""

    def __init__(self) -> None:
        self.jobs: dict[str, ModelJob] = {}
        self.queues: dict[str, ModelQueue] = {}
        self._places = iter(range(10**9))

    def enqueue(self, batch: Sequence[NewJob], now: int) -> list[tuple[str, bool]]:
        """The id that answers for each, and whether it is new. If one is refused, nothing has changed."""
        before = {job_id: replace(job) for job_id, job in self.jobs.items()}
        try:
            return self._enqueue(batch, now)
        except UniqueKeyTaken:
            for job_id, job in before.items():
                self.jobs[job_id].state = job.state
            raise

    def _enqueue(self, batch: Sequence[NewJob], now: int) -> list[tuple[str, bool]]:
        for new in sorted(batch, key=lambda new: new.unique_key or ""):
            holder = self._holder(new.unique_key)
            if holder is not None and new.on_conflict is OnConflict.REPLACE_PENDING:
                if holder.state is State.RUNNING:
                    raise UniqueKeyTaken(new.unique_key or "", holder.new.id, holder.state)
                holder.state = State.CANCELLED
                self._fail_behind([holder])
        stands_for = {new.id: holder.new.id for new in batch if (holder := self._holder(new.unique_key)) is not None}
        for new in batch:
            if new.id in stands_for and new.on_conflict is not OnConflict.SKIP:
                raise UniqueKeyTaken(new.unique_key or "", stands_for[new.id], "")
        made = []
        for new in batch:
            self.queues.setdefault(new.queue, ModelQueue())
            if new.id not in stands_for:
                run_at = now + (new.delay_us or 0)
                job = ModelJob(new, next(self._places), State.PENDING, run_at, [], new.priority, new.urgent)
                self.jobs[new.id] = job
                made.append(job)
        for job in made:
            ids = dict.fromkeys(stands_for.get(dep, dep) for dep in job.new.depends_on)
            job.depends_on = [self.jobs[job_id] for job_id in ids]
        self._fail_behind([dep for job in made for dep in job.depends_on if dep.state in ENDED_BADLY])
        self._promote(made, now)
        return [(stands_for.get(new.id, new.id), new.id not in stands_for) for new in batch]

    def _holder(self, key: str | None) -> ModelJob | None:
        holders = [job for job in self.jobs.values() if key and job.new.unique_key == key and job.state in UNFINISHED]
        return holders[0] if holders else None

    def line(self, queue: str, tasks: Iterable[str]) -> Iterator[ModelJob]:
        """The jobs of a queue that may start now, one after the other, each taking its room."""
        state = self.queues[queue]
        usage = Usage()
        mine = [job for job in self.jobs.values() if job.new.queue == queue]
        for job in mine:
            if job.state is State.RUNNING:
                usage.add(job.new.role, job.new.concurrency_key)
        for job in sorted((job for job in mine if job.state is State.READY), key=lambda job: job.order):
            fits = usage.room(state.limits, job.new.role, job.new.concurrency_key)
            if not state.paused and job.new.task in tasks and fits:
                usage.add(job.new.role, job.new.concurrency_key)
                yield job

    def claim(self, job: ModelJob, now: int, lease_us: int) -> None:
        job.state, job.fence, job.locked_until = State.RUNNING, job.fence + 1, now + lease_us
        job.deadline_at = None if job.new.timeout_us is None else now + job.new.timeout_us

    def holds(self, job: ModelJob, fence: int, now: int) -> bool:
        return job.state is State.RUNNING and job.fence == fence and job.locked_until > now

    def settle(self, ends: Sequence[tuple[ModelJob, Outcome]], now: int) -> None:
        endings = [(job, self._end(job, outcome, now)) for job, outcome in ends]
        self._fail_behind([job for job, ending in endings if ending.state in ENDED_BADLY])
        freed = [job for job in self.jobs.values() if any(job_ in job.depends_on for job_, _ in endings)]
        self._promote(freed, now)
        self._promote([job for job, ending in endings if ending.delay_us is not None and ending.delay_us <= 0], now)

    def _end(self, job: ModelJob, outcome: Outcome, now: int) -> AttemptEnd:
        ending = decide(Held(job.retry_count, job.new.policy, job.stop_requested, job.last_failure), outcome)
        job.state, job.retry_count, job.attempts = ending.state, ending.retry_count, job.attempts + 1
        job.last_failure = ending.failure_type
        if ending.delay_us is not None:
            job.run_at = now + ending.delay_us
        return ending

    def recover(self, now: int) -> int:
        gone = [job for job in self.jobs.values() if job.state is State.RUNNING and job.locked_until <= now]
        ends: list[tuple[ModelJob, Outcome]] = []
        for job in gone:
            overdue = job.deadline_at is not None and job.deadline_at <= now
            ends.append((job, TimedOut(unseen=True) if overdue else Lost()))
        self.settle(ends, now)
        return len(gone)

    def promote(self, now: int) -> int:
        return self._promote(self.jobs.values(), now)

    def cancel(self, job: ModelJob) -> None:
        if job.state in WAITING:
            job.state = State.CANCELLED
            self._fail_behind([job])
        elif job.state is State.RUNNING:
            job.stop_requested = True
        elif job.state is not State.CANCELLED:
            raise WrongState(job.new.id, job.state, "cancelled", [])

    def requeue(self, job: ModelJob, now: int) -> None:
        if job.state not in LIFECYCLE[Reason.REQUEUED].sources:
            raise WrongState(job.new.id, job.state, "retried", [])
        holder = self._holder(job.new.unique_key)
        if holder is not None:
            raise UniqueKeyTaken(job.new.unique_key or "", holder.new.id, holder.state)
        job.state, job.run_at, job.retry_count, job.stop_requested = State.PENDING, now, 0, False
        job.last_failure = None
        self._promote([job], now)

    def mark_done(self, job: ModelJob, now: int) -> None:
        if job.state in LIFECYCLE[Reason.MARKED_DONE].sources:
            job.state, job.stop_requested, job.last_failure, job.deadline_at = State.SUCCEEDED, False, None, None
            job.marked_done = True
            self._promote((each for each in self.jobs.values() if any(job is one for one in each.depends_on)), now)
        elif not job.marked_done:
            raise WrongState(job.new.id, job.state, "marked as done", [])

    def reprioritise(self, job: ModelJob, priority: int | None, urgent: bool | None) -> None:
        if job.state not in UNFINISHED:
            raise WrongState(job.new.id, job.state, "reprioritised", [])
        job.priority = job.priority if priority is None else priority
        job.urgent = job.urgent if urgent is None else urgent

    def _promote(self, jobs: Iterable[ModelJob], now: int) -> int:
        due = [job for job in jobs if job.state is State.PENDING and job.unmet == 0 and job.run_at <= now]
        for job in due:
            job.state = State.READY
        return len(due)

    def _fail_behind(self, ended: Sequence[ModelJob]) -> None:
        """Fail the dependents whose policy is to fail, transitively."""
        behind = [
            job
            for job in self.jobs.values()
            if job.state is State.PENDING
            and job.new.on_dependency_failure is OnDependencyFailure.FAIL
            and any(dependency is one for dependency in job.depends_on for one in ended)
        ]
        seen = {job.new.id for job in behind}
        while behind:
            failing = behind.pop()
            for job in self.jobs.values():
                if job.new.id not in seen and any(dependency is failing for dependency in job.depends_on):
                    seen.add(job.new.id)
                    behind.append(job)
        for job_id in seen:
            if self.jobs[job_id].state is State.PENDING:
                self.jobs[job_id].state = State.FAILED
