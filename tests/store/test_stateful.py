"""Commands in any order, against a model: after each, the store is where the model says it should be."""

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from hanbeon.domain.job import Claimed, NewJob, OnConflict, OnDependencyFailure
from hanbeon.domain.lifecycle import State
from hanbeon.domain.limits import QueueLimits
from hanbeon.domain.outcome import HandedBack, Outcome, PutOff, Raised, Returned, TimedOut
from hanbeon.domain.retry import OnLost, RetryPolicy
from hanbeon.errors import Conflict
from hanbeon.store.operations.cancel import reprioritise, requeue
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.operations.lease import Lease, renew
from hanbeon.store.operations.queries import JobFilter, list_jobs
from hanbeon.surfaces.store_parts import migrate
from tests.databases.installations import Installation
from tests.store.model import Model, ModelJob
from tests.store.world import INSTANCE, LEASE_US, World, new_id

T = TypeVar("T")
LONG = os.environ.get("HANBEON_CHAOS") == "long"
# Making a failure shorter runs it hundreds of times, which takes longer than a test may.
PHASES = [phase for phase in Phase if LONG or phase not in (Phase.shrink, Phase.explain)]
QUEUES = ("a", "b")
SECOND = 1_000_000
OUTCOMES: st.SearchStrategy[Outcome] = st.sampled_from(
    [
        Returned("1"),
        Returned("2"),
        Raised("boom"),
        Raised("boom", permanent=True),
        TimedOut(),
        HandedBack(),
        PutOff(0),
        PutOff(5 * SECOND),
    ]
)
ASKED = st.fixed_dictionaries(
    {
        "queue": st.sampled_from(["a", "a", "b"]),
        "task": st.sampled_from(["t", "t", "u"]),
        "role": st.sampled_from(["", "", "FE"]),
        "concurrency_key": st.sampled_from(["", "", "k"]),
        "priority": st.integers(-1, 1),
        "urgent": st.booleans(),
        "delay_us": st.sampled_from([None, None, None, 5 * SECOND]),
        "timeout_us": st.sampled_from([None, 10 * SECOND]),
        "on_dependency_failure": st.sampled_from(OnDependencyFailure),
        "on_conflict": st.sampled_from(OnConflict),
        "policy": st.builds(
            RetryPolicy,
            max_retries=st.integers(0, 2),
            base_us=st.sampled_from([0, 5 * SECOND]),
            on_lost=st.sampled_from(OnLost),
        ),
        "unique": st.sampled_from([None, None, None, "x", "y"]),
        "behind": st.lists(st.integers(0, 3), max_size=3),
    }
)


class Commands(RuleBasedStateMachine):
    """Drives a world and a model side by side."""

    def __init__(self, world: World, run: Callable[[Awaitable[Any]], Any]) -> None:
        super().__init__()
        self.world, self._run = world, run
        self.model = Model()
        self.leases: list[tuple[ModelJob, Lease]] = []
        run(world.empty())

    @property
    def now(self) -> int:
        return self.world.clock.now_us()

    def run(self, thing: Awaitable[T]) -> T:
        answer: T = self._run(thing)
        return answer

    def both(self, model: Callable[[], T], store: Awaitable[Any]) -> tuple[T, Any] | None:
        """The answers of both; None if both refuse, which they must do for the same reason."""
        try:
            expected = model()
        except Conflict as refusal:
            with pytest.raises(type(refusal)):
                self.run(store)
            return None
        return expected, self.run(store)

    @rule(asked=st.lists(ASKED, min_size=1, max_size=3))
    def enqueue(self, asked: list[dict[str, Any]]) -> None:
        batch: list[NewJob] = []
        keys: set[str] = set()
        for each in asked:
            each = dict(each)
            behind, unique = each.pop("behind"), each.pop("unique")
            queue = each["queue"]
            before = [job.new.id for job in self.model.jobs.values() if job.new.queue == queue]
            before += [job.id for job in batch if job.queue == queue]
            # A key of the queue's own, because a job cannot wait for one of another queue in its stead.
            key = None if unique is None or f"{queue}{unique}" in keys else f"{queue}{unique}"
            keys.add(key or "")
            depends_on = tuple(before[-1 - n % len(before)] for n in behind) if before else ()
            batch.append(NewJob(id=new_id(), unique_key=key, depends_on=depends_on, **each))
        answers = self.both(lambda: self.model.enqueue(batch, self.now), self.world.store.enqueue(batch))
        if answers is not None:
            expected, made = answers
            assert [(each.id, each.created) for each in made] == expected
            assert [each.state for each in made] == [self.model.jobs[job_id].state for job_id, _ in expected]

    @precondition(lambda self: any(job.state is State.READY for job in self.model.jobs.values()))
    @rule(want=st.sampled_from([1, 2, 50, 50]), tasks=st.sampled_from([("t",), ("t", "u"), ("t", "u")]))
    def claim(self, want: int, tasks: tuple[str, ...]) -> None:
        taken: list[Claimed] = self.run(self.world.claim(want, tasks))
        assert len(taken) <= want
        could = {queue: [job.new.id for job in self.model.line(queue, tasks)] for queue in self.model.queues}
        for queue, line in could.items():
            mine = [job.id for job in taken if job.queue == queue]
            assert mine == line[: len(mine)]
        if not taken:
            assert not any(could.values())
        for held in taken:
            job = self.model.jobs[held.id]
            self.model.claim(job, self.now, LEASE_US)
            assert (held.fence, held.retry_count) == (job.fence, job.retry_count)
            self.leases.append((job, Lease(held.seq, held.fence)))

    @precondition(lambda self: self.leases)
    @rule(picks=st.lists(st.tuples(st.integers(0, 99), OUTCOMES), min_size=1, max_size=4))
    def settle_some(self, picks: list[tuple[int, Outcome]]) -> None:
        """Leases of any age: of all attempts there have been."""
        reported: dict[Lease, tuple[ModelJob, Outcome]] = {}
        for n, outcome in picks:
            job, lease = self.leases[-1 - n % len(self.leases)]
            reported.setdefault(lease, (job, outcome))
        self.settle(reported)

    @precondition(lambda self: self.running())
    @rule(outcomes=st.lists(OUTCOMES, max_size=2).map(lambda some: [*some, Returned(), Returned()]))
    def settle_all(self, outcomes: list[Outcome]) -> None:
        """Everything that runs, in one batch, beside late reports of the attempts before."""
        reported: dict[Lease, tuple[ModelJob, Outcome]] = {}
        for n, (job, lease) in enumerate(self.leases):
            if job.state is State.RUNNING and lease.fence >= job.fence - 1:
                reported[lease] = (job, outcomes[n % len(outcomes)])
        self.settle(reported)

    @precondition(lambda self: any(job.state is State.READY for job in self.model.jobs.values()))
    @rule(outcomes=st.lists(OUTCOMES, max_size=2).map(lambda some: [*some, Returned(), Returned()]))
    def work(self, outcomes: list[Outcome]) -> None:
        """As much as may run, to its end."""
        self.claim(50, ("t", "u"))
        self.settle_all(outcomes)

    def settle(self, reported: dict[Lease, tuple[ModelJob, Outcome]]) -> None:
        live = {lease for lease, (job, _) in reported.items() if self.model.holds(job, lease.fence, self.now)}
        # Half of the successes take the fast path, which PostgreSQL has.
        by = [None, INSTANCE]
        reports = [
            CompletionReport(lease.seq, lease.fence, end, instance=by[lease.seq % 2])
            for lease, (_, end) in reported.items()
        ]
        settled = self.run(self.world.store.complete(reports))
        assert {Lease(each.seq, each.fence) for each in settled} == live
        self.model.settle([reported[lease] for lease in live], self.now)

    @precondition(lambda self: self.leases)
    @rule(n=st.integers(0, 9))
    def renew(self, n: int) -> None:
        job, lease = self.leases[-1 - n % len(self.leases)]
        facts = self.run(self.world.store.write(lambda tx: renew(tx, [lease], LEASE_US)))
        if self.model.holds(job, lease.fence, self.now):
            job.locked_until = self.now + LEASE_US
            assert facts.renewed == {lease.seq}
            assert bool(facts.stop) == job.stop_requested
        else:
            assert (facts.renewed, facts.lost) == (set(), {lease.seq})

    @precondition(lambda self: self.model.jobs)
    @rule(seconds=st.sampled_from([0, 0.001, 5, 12, 30]), loops=st.sampled_from(["promote", "promote recover", ""]))
    def wait(self, seconds: float, loops: str) -> None:
        """Time passes, and the loops that look at it may have run."""
        self.run(self.world.clock.advance(seconds))
        if "recover" in loops:
            assert len(self.run(self.world.recover(1000))) == self.model.recover(self.now)
        if "promote" in loops:
            assert self.run(self.world.promote(1000)) == self.model.promote(self.now)

    @precondition(lambda self: self.model.jobs)
    @rule(
        n=st.integers(0, 9),
        verb=st.sampled_from(["cancel", "requeue", "requeue", "mark done", "reprioritise"]),
        priority=st.sampled_from([None, -2, 2]),
        urgent=st.sampled_from([None, True, False]),
    )
    def ask(self, n: int, verb: str, priority: int | None, urgent: bool | None) -> None:
        """User commands on any job."""
        jobs = list(self.model.jobs.values())
        job = jobs[-1 - n % len(jobs)]
        store, job_id = self.world.store, job.new.id
        if verb == "cancel":
            self.both(lambda: self.model.cancel(job), store.cancel(job_id))
        elif verb == "requeue":
            answers = self.both(
                lambda: self.model.requeue(job, self.now), store.write(lambda tx: requeue(tx, store.lanes, job_id))
            )
            assert answers is None or answers[1] is job.state
        elif verb == "mark done":
            self.both(lambda: self.model.mark_done(job, self.now), self.world.mark_done(job_id))
        else:
            asked = store.write(lambda tx: reprioritise(tx, store.lanes, job_id, priority, urgent))
            self.both(lambda: self.model.reprioritise(job, priority, urgent), asked)

    @precondition(lambda self: self.model.queues)
    @rule(
        queue=st.sampled_from(QUEUES),
        paused=st.sampled_from([None, False, False, True]),
        total=st.sampled_from([0, 0, 1, 2]),
        each=st.sampled_from([0, 0, 1]),
        role=st.sampled_from([0, 0, 1]),
    )
    def configure(self, queue: str, paused: bool | None, total: int, each: int, role: int) -> None:
        if queue not in self.model.queues:
            return
        limits = {"max_concurrent": total, "max_per_key": each, "roles": {"FE": role}}
        self.run(self.world.store.change_queue(queue, limits, paused))
        expected = self.model.queues[queue]
        expected.limits = QueueLimits(total, each, {"FE": role})
        expected.paused = expected.paused if paused is None else paused

    def running(self) -> bool:
        return any(job.state is State.RUNNING for job in self.model.jobs.values())

    @invariant()
    def the_store_is_where_the_model_is(self) -> None:
        found = self.run(self.world.store.read(lambda tx: list_jobs(tx, JobFilter(), 0, 10_000)))
        assert [job.id for job in found] == list(self.model.jobs)
        for job, expected in zip(found, self.model.jobs.values(), strict=True):
            assert (job.id, job.state) == (job.id, expected.state)
            assert (job.unmet, job.retry_count, job.fence) == (expected.unmet, expected.retry_count, expected.fence)
            assert (job.priority, job.urgent, job.run_at) == (expected.priority, expected.urgent, expected.run_at)
            assert (job.stop_requested_at is not None) == expected.stop_requested
            if expected.state is State.RUNNING:
                assert (job.locked_until, job.deadline_at) == (expected.locked_until, expected.deadline_at)

    @rule()
    def fold(self) -> None:
        self.run(self.world.fold())

    @invariant()
    def the_tallies_are_those_of_a_recount(self) -> None:
        self.run(self.world.check_tallies())

    def teardown(self) -> None:
        """Events are legal and end in the jobs' states; each ended attempt is recorded once."""
        events = self.run(self.world.events())
        last = {event.job_id: event.state for event in events if event.job_id is not None}
        assert last == {job.new.id: job.state for job in self.model.jobs.values()}
        written = self.run(
            self.world.sql("SELECT j.id, a.attempt FROM hanbeon.attempt AS a, hanbeon.job AS j WHERE a.job = j.seq")
        )
        expected = [(job.new.id, n + 1) for job in self.model.jobs.values() for n in range(job.attempts)]
        assert sorted((str(row[0]), row[1]) for row in written) == sorted(expected)


def _check(url: str, examples: int) -> None:
    with asyncio.Runner() as runner:
        runner.run(migrate(url))
        world = runner.run(World.open(url))
        try:
            run_state_machine_as_test(
                lambda: Commands(world, runner.run),  # type: ignore[arg-type]
                settings=settings(
                    max_examples=examples * (20 if LONG else 1),
                    phases=PHASES,
                    stateful_step_count=40,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            runner.run(world.store.close())


@pytest.mark.parametrize("examples", [8, pytest.param(40, marks=pytest.mark.slow)])
def test_any_commands_on_sqlite(examples: int) -> None:
    # In memory where the system can: durability is not what is tested, and thousands of syncs take their time.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        _check(f"sqlite:///{folder}/hanbeon.db", examples)


@pytest.mark.parametrize("examples", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_any_commands_on_postgresql(
    postgres_installation: Installation, shared_database: Callable[[str], str], examples: int
) -> None:
    _check(shared_database(postgres_installation.name), examples)
