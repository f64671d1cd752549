"""A sound history that goes through every move there is, through the store alone."""

from collections.abc import Sequence
from typing import Any

from hanbeon.domain.job import Claimed, NewJob, OnConflict, OnDependencyFailure
from hanbeon.domain.outcome import HandedBack, Outcome, PutOff, Raised, Returned
from hanbeon.domain.retry import RetryPolicy
from hanbeon.store.operations.cancel import mark_done, reprioritise, requeue
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.complete import CompletionReport, recover
from hanbeon.store.operations.expire import expire
from hanbeon.store.operations.lease import Lease, note_overdue
from hanbeon.store.operations.stream import Reply, StreamProgress, Verdict, apply_replies, dispatch
from hanbeon.store.store import Store
from hanbeon.surfaces.offices.queue import queue_of_office
from hanbeon.tasks.stream_call import StreamCall
from hanbeon.testing.clock import VirtualClock
from tests.store.world import new_id

SECOND = 1_000_000
HOUR = 3600 * SECOND
NOW = RetryPolicy(max_retries=5, base_us=0)


class Lives:
    """The jobs of a history by name. Each has a task of its own name, so that a claim takes the one that is meant."""

    def __init__(self, store: Store, ids: dict[str, str] | None = None, clock: VirtualClock | None = None) -> None:
        """`clock`: the store's, if it is in the test's hands; it is advanced before each call."""
        self.store = store
        self.ids = {} if ids is None else ids
        self._clock = clock

    async def pass_time(self) -> None:
        if self._clock is not None:
            await self._clock.advance(0.001)

    def __getitem__(self, name: str) -> str:
        return self.ids[name]

    def new(self, name: str, **fields: Any) -> NewJob:
        self.ids[name] = new_id()
        depends_on = tuple(self.ids[each] for each in fields.pop("depends_on", ()))
        return NewJob(id=self.ids[name], task=name, depends_on=depends_on, policy=NOW, **fields)

    async def enqueue(self, *jobs: NewJob) -> None:
        await self.pass_time()
        await self.store.enqueue(jobs)

    async def claim(self, *names: str, lease_us: int = 30 * SECOND) -> list[Claimed]:
        await self.pass_time()
        answer = await self.store.claim(ClaimRequest(instance=1, tasks=names, want=100, lease_us=lease_us))
        return answer.jobs

    async def settle(self, held: Sequence[Claimed], outcome: Outcome) -> None:
        await self.pass_time()
        settled = await self.store.complete([CompletionReport(job.seq, job.fence, outcome) for job in held])
        assert len(settled) == len(held)

    async def run(self, name: str, *outcomes: Outcome) -> None:
        """One attempt for each outcome."""
        for outcome in outcomes:
            held = await self.claim(name)
            assert len(held) == 1, name
            await self.settle(held, outcome)

    async def send(self, *names: str) -> list[Claimed]:
        """Dispatch to stream workers."""
        calls = {name: StreamCall(name="thumbs") for name in names}
        request = ClaimRequest(instance=1, tasks=names, want=100, lease_us=30 * SECOND)
        return (await self.store.write(lambda tx: dispatch(tx, self.store.lanes, request, calls))).jobs

    async def hear(self, *replies: Reply) -> None:
        """Apply the replies of stream workers."""
        leases = dict.fromkeys(self.ids)
        verdicts, _ = await self.store.write(lambda tx: apply_replies(tx, self.store.lanes, replies, leases, 1))
        assert verdicts == [Verdict.APPLIED] * len(replies)

    async def lose(self, name: str) -> None:
        """An attempt whose instance vanishes."""
        (held,) = await self.claim(name, lease_us=1)
        await self.pass_time()
        recovered = await self.store.write(lambda tx: recover(tx, self.store.lanes, 100))
        assert [each.seq for each in recovered] == [held.seq]


async def live(store: Store, clock: VirtualClock | None = None) -> Lives:
    """Every reason of the lifecycle at least once, limits and a pause, and jobs left in every state."""
    lives = Lives(store, clock=clock)
    await _graph(lives)
    await _ends(lives)
    await _offices(lives)
    await _limits(lives)
    await _streams(lives)
    await store.number_events()
    return lives


async def _graph(lives: Lives) -> None:
    await lives.enqueue(
        lives.new("first", queue="graph"),
        lives.new("second", queue="graph", depends_on=["first"]),
        lives.new("third", queue="graph", depends_on=["first", "second"]),
        lives.new("broken", queue="graph"),
        lives.new("blocked", queue="graph", depends_on=["first", "broken"]),
        lives.new(
            "doomed",
            queue="graph",
            depends_on=["broken"],
            on_dependency_failure=OnDependencyFailure.FAIL,
            delay_us=HOUR,
        ),
    )
    await lives.run("first", Returned())
    await lives.run("second", Raised("no"), Raised("no"), Returned())
    await lives.claim("third")
    await lives.run("broken", Raised("never", permanent=True))


async def _ends(lives: Lives) -> None:
    store = lives.store
    await lives.enqueue(
        *(lives.new(name) for name in ("retried", "running", "requeued", "stopped", "postponed", "ready", "by_hand"))
    )
    await lives.run("by_hand", Raised("never", permanent=True))
    await store.write(lambda tx: mark_done(tx, store.lanes, lives["by_hand"], "it is on paper", user="ada"))
    await lives.run("retried", Raised("once"), Returned())
    await lives.enqueue(
        lives.new("expired", expires_at_us=1), lives.new("expired later", expires_at_us=1, delay_us=HOUR)
    )
    await store.write(lambda tx: expire(tx, store.lanes, 10))
    await lives.lose("running")
    held = await lives.claim("running")
    await store.write(lambda tx: note_overdue(tx, store.lanes, Lease(held[0].seq, held[0].fence)))
    await lives.run("requeued", Raised("never", permanent=True))
    await store.write(lambda tx: requeue(tx, store.lanes, lives["requeued"]))
    await lives.run("requeued", HandedBack(), Returned())
    held = await lives.claim("stopped")
    await store.cancel(lives["stopped"])
    await lives.settle(held, Returned())
    await lives.run("postponed", PutOff(0), PutOff(0), Returned())
    await store.write(lambda tx: reprioritise(tx, store.lanes, lives["ready"], 5, urgent=True))
    await lives.enqueue(lives.new("delayed", delay_us=HOUR), lives.new("cancelled", delay_us=HOUR))
    await store.cancel(lives["cancelled"])
    await lives.enqueue(lives.new("replaced", delay_us=HOUR, unique_key="one", idempotency_key="a"))
    await lives.enqueue(
        lives.new(
            "replacing", unique_key="one", idempotency_key="b", delay_us=HOUR, on_conflict=OnConflict.REPLACE_PENDING
        )
    )


async def _offices(lives: Lives) -> None:
    """One job in each of two offices, made together: one batch of events tells of both."""
    await lives.enqueue(*(lives.new(name, queue=queue_of_office(new_id())) for name in ("here", "there")))
    await lives.run("here", Returned())
    await lives.run("there", Returned())


async def _streams(lives: Lives) -> None:
    """Jobs sent to stream workers take their slots from then on, so one may begin while its queue is paused."""
    store = lives.store
    await store.change_queue("wired", {"max_concurrent": 3})
    await lives.enqueue(*(lives.new(name, queue="wired") for name in ("sent", "answered", "begun", "unsent")))
    assert len(await lives.send("sent", "answered", "begun", "unsent")) == 3
    await store.change_queue("wired", {"max_concurrent": 1}, paused=True)
    await lives.hear(Reply(lives["begun"], 1, StreamProgress(5)), Reply(lives["answered"], 1, outcome=Returned()))


async def _limits(lives: Lives) -> None:
    """A queue that is limited, then narrower, then paused for a while; what it allows is run to the end."""
    store, names = lives.store, [f"narrow{n}" for n in range(6)]
    fields = [("FE", ""), ("FE", ""), ("BE", "k"), ("BE", "k"), ("BE", ""), ("", "")]
    await store.change_queue("narrow", {"max_concurrent": 2, "roles": {"FE": 1}, "max_per_key": 1})
    await lives.enqueue(
        *(
            lives.new(name, queue="narrow", role=role, concurrency_key=key)
            for name, (role, key) in zip(names, fields, strict=True)
        )
    )
    held = await lives.claim(*names)
    assert [job.id for job in held] == [lives["narrow0"], lives["narrow2"]]
    await lives.settle(held, Returned())
    held = await lives.claim(*names)
    await store.change_queue("narrow", {"max_concurrent": 1})
    assert await lives.claim(*names) == []
    await lives.settle(held, Returned())
    await lives.run("narrow4", Returned())
    await store.change_queue("narrow", paused=True)
    assert await lives.claim(*names) == []
    await store.change_queue("narrow", paused=False)
    await lives.claim("narrow5")
