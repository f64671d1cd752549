"""A worker: the loops of one instance around the attempts it holds."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import socket
from collections.abc import Iterable
from importlib.metadata import version

import structlog

from hanbeon.clock import Clock, micros
from hanbeon.domain.job import Claimed
from hanbeon.engine.attempt import Attempt
from hanbeon.engine.completion import Completion
from hanbeon.engine.loop import AGAIN, Loop
from hanbeon.engine.running import Runner
from hanbeon.errors import DatabaseUnavailable
from hanbeon.events.hub import Hub
from hanbeon.executors.port import Executor, StopCause
from hanbeon.settings import Settings
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.instances import NewInstance
from hanbeon.store.port import Store
from hanbeon.tasks.registry import Registry

_log = structlog.get_logger("hanbeon.engine")
_BATCH = 500
_CLAIM_BATCH = 100


class Worker:
    """Runs jobs of the registered tasks. `async with worker:` or `await worker.run()`; tests call `tick()`."""

    def __init__(
        self,
        store: Store,
        hub: Hub,
        registry: Registry,
        settings: Settings,
        clock: Clock,
        executors: Iterable[Executor],
        *,
        name: str | None = None,
    ) -> None:
        self._store, self._hub, self._registry = store, hub, registry
        self._settings, self._clock = settings, clock
        self._executors = {executor.name: executor for executor in executors}
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        self.instance = 0
        self.attempts: dict[int, Attempt] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loops: list[asyncio.Task[None]] = []
        self._claiming = True
        self._cursor = 0
        self._completion = Completion(store)
        self._runner = Runner(store, self._completion, clock, settings.max_payload_bytes)
        self._hints = contextlib.ExitStack()
        self._stop_requested = asyncio.Event()
        self.claim = Loop("claim", self._claim)
        self.renew = Loop("renew", self._renew)
        self.watch = Loop("watch", self._watch)
        self.recover = Loop("recover", self._recover)
        self.promote = Loop("promote", self._promote)
        self.number = Loop("number", self._number)
        self.beat = Loop("beat", self._beat)
        self.prune = Loop("prune", self._prune)
        self._complete = Loop("complete", self._completion.run_once)

    # Life

    async def __aenter__(self) -> Worker:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    async def register(self) -> None:
        """Show up among the instances."""
        self.instance = await self._store.register(
            NewInstance(
                self.name,
                socket.gethostname(),
                os.getpid(),
                version("hanbeon"),
                self._served(),
                self._settings.concurrency,
            )
        )

    async def start(self) -> None:
        await self.register()
        self._hints.enter_context(self._hub.calling(self._work_arrived, "work"))
        self._hints.enter_context(self._hub.calling(self.watch.wake, "stop"))
        self._hints.enter_context(self._hub.calling(self.number.wake, "event"))
        loops = (
            *(self.claim, self.renew, self.watch, self.recover, self.promote),
            *(self.number, self.beat, self.prune, self._complete),
        )
        self._loops = [
            asyncio.get_running_loop().create_task(loop.run(), name=f"hanbeon-{loop.name}") for loop in loops
        ]
        _log.info("worker_started", instance=self.instance, name=self.name, tasks=self._served())

    async def run(self) -> None:
        """Work until SIGTERM or SIGINT, then stop cleanly; a second signal hands everything back at once."""
        loop = asyncio.get_running_loop()
        signals = (signal.SIGTERM, signal.SIGINT)
        for number in signals:
            loop.add_signal_handler(number, self._signalled)
        try:
            async with self:
                await self._stop_requested.wait()
        finally:
            for number in signals:
                loop.remove_signal_handler(number)

    def request_stop(self) -> None:
        self._stop_requested.set()

    def _signalled(self) -> None:
        if self._stop_requested.is_set():
            for attempt in self.attempts.values():
                attempt.stop(StopCause.SHUTDOWN)
        self._stop_requested.set()

    async def stop(self) -> None:
        """Claim nothing more, let running jobs finish within the grace time, hand the rest back, leave."""
        self._claiming = False
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._settings.shutdown_grace)
        for attempt in list(self.attempts.values()):
            attempt.stop(StopCause.SHUTDOWN)
        if self._tasks:
            # Threads cannot be stopped; their lease is renewed no longer and their job is recovered elsewhere.
            await asyncio.wait(self._tasks, timeout=max(1.0, self._settings.lease / 10))
        for task in (*self._tasks, *self._loops):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._loops, return_exceptions=True)
        self._hints.close()
        for executor in self._executors.values():
            await executor.close()
        with contextlib.suppress(DatabaseUnavailable):
            await self._store.leave(self.instance)
        _log.info("worker_stopped", instance=self.instance)

    async def tick(self) -> int:
        """One step of every loop and the end of every started attempt, for tests; how many jobs ran."""
        await self._promote()
        await self._recover()
        await self._claim()
        started = list(self._tasks)
        while not all(task.done() for task in started):
            await self._watch()
            await self._renew()
            await asyncio.wait(started, timeout=0.001)
            if self._completion.waiting:
                await self._completion.flush()
        await self._number()
        return len(started)

    # Loops

    def _work_arrived(self) -> None:
        self.claim.wake()
        self.promote.wake()

    def _served(self) -> list[str]:
        return [task.name for task in self._registry if task.executor in self._executors]

    async def _claim(self) -> float:
        """ready → running, as many as there are free slots."""
        want = min(_CLAIM_BATCH, self._settings.concurrency - len(self.attempts))
        tasks = self._served()
        if not self._claiming or want <= 0 or not tasks:
            return self._settings.poll
        sent_at, began_at = self._clock.monotonic(), self._cursor
        answer = await self._store.claim(
            ClaimRequest(self.instance, tasks, want, micros(self._settings.lease), self._cursor)
        )
        self._cursor = answer.cursor
        for job in answer.jobs:
            self._begin(job, sent_at)
        if answer.jobs or answer.cursor or began_at:
            return AGAIN
        return self._settings.poll * random.uniform(0.8, 1.2)

    def _begin(self, job: Claimed, sent_at: float) -> None:
        task = self._registry.get(job.task)
        attempt = Attempt(
            job,
            self._store,
            self._executors[task.executor],
            claimed_at=sent_at,
            lease_seconds=self._settings.lease,
            zone=self._settings.zone,
            max_payload_bytes=self._settings.max_payload_bytes,
        )
        self.attempts[job.seq] = attempt
        runner = asyncio.get_running_loop().create_task(self._runner.run(attempt, task), name=f"attempt-{job.id}")
        self._tasks.add(runner)
        runner.add_done_callback(lambda done: self._ended(attempt, done))
        self.watch.wake()

    def _ended(self, attempt: Attempt, runner: asyncio.Task[None]) -> None:
        self._tasks.discard(runner)
        if self.attempts.get(attempt.job.seq) is attempt:
            del self.attempts[attempt.job.seq]
        if not runner.cancelled() and (error := runner.exception()) is not None:
            # Its lease runs out and recovery takes the job: nothing is lost, but somebody should look.
            _log.error("attempt_crashed", job=attempt.job.id, attempt=attempt.job.fence, exc_info=error)
        self.claim.wake()

    async def _renew(self) -> float:
        """Extend every lease held."""
        held = {seq: attempt for seq, attempt in self.attempts.items() if not attempt.lost}
        if held:
            sent_at = self._clock.monotonic()
            async with asyncio.timeout(self._settings.heartbeat):
                facts = await self._store.renew(
                    [attempt.lease for attempt in held.values()], micros(self._settings.lease)
                )
            for seq, attempt in held.items():
                if seq in facts.renewed:
                    attempt.renewed(sent_at, self._settings.lease)
            self._note(held, facts.lost, facts.stop)
        return self._settings.heartbeat

    async def _watch(self) -> float:
        """Stop what must stop: leases in danger (without asking anybody), deadlines, cancelled jobs."""
        now = self._clock.monotonic()
        for attempt in list(self.attempts.values()):
            if now >= attempt.give_up_at:
                attempt.stop(StopCause.LEASE_LOST)
            elif attempt.deadline is not None and now >= attempt.deadline and attempt.cause is None:
                attempt.stop(StopCause.DEADLINE)
                with contextlib.suppress(DatabaseUnavailable, TimeoutError):
                    async with asyncio.timeout(self._settings.watch):
                        await self._store.note_overdue(attempt.lease)
        held = {seq: attempt for seq, attempt in self.attempts.items() if attempt.cause is None}
        if held:
            with contextlib.suppress(DatabaseUnavailable, TimeoutError):
                async with asyncio.timeout(self._settings.watch):
                    facts = await self._store.look_at([attempt.lease for attempt in held.values()])
                    self._note(held, facts.lost, facts.stop)
        return self._until_next_watch()

    def _until_next_watch(self) -> float:
        if not self.attempts:
            return self._settings.poll
        now = self._clock.monotonic()
        moments = [a.give_up_at for a in self.attempts.values() if not a.lost]
        moments += [a.deadline for a in self.attempts.values() if a.deadline is not None and a.cause is None]
        return max(0.001, min(self._settings.watch, *(moment - now for moment in moments)))

    def _note(self, held: dict[int, Attempt], lost: set[int], stop: set[int]) -> None:
        for seq, attempt in held.items():
            # One whose result is on its way may be through already: the database will say which.
            if self.attempts.get(seq) is not attempt or attempt.settling:
                continue
            if seq in stop:
                attempt.stop(StopCause.CANCELLED)
            elif seq in lost:
                attempt.stop(StopCause.LEASE_LOST)

    async def _recover(self) -> float:
        """Take over what others (or an earlier life) left behind."""
        recovered = await self._store.recover(_BATCH, random.random())
        for item in recovered:
            _log.warning("recovered", seq=item.seq, attempt=item.fence, became=item.state.value)
        if len(recovered) == _BATCH:
            return AGAIN
        return min(self._settings.poll, self._settings.lease / 6) * random.uniform(0.8, 1.2)

    async def _promote(self) -> float:
        """pending → ready, and sleep until the next one is due."""
        if await self._store.promote(_BATCH) == _BATCH:
            return AGAIN
        wait_us = await self._store.next_due_us()
        return self._settings.poll if wait_us is None else min(self._settings.poll, max(0.001, wait_us / 1_000_000))

    async def _number(self) -> float:
        """Give committed events their public ids."""
        await self._store.number_events()
        await asyncio.sleep(0.1)  # Wake-ups come with every commit; numbering each would be one more.
        return self._settings.poll

    async def _beat(self) -> float:
        if not await self._store.beat(self.instance, len(self.attempts), self._served()):
            await self.register()
        return self._settings.heartbeat

    async def _prune(self) -> float:
        if await self._store.prune(micros(self._settings.retention), _BATCH) >= _BATCH:
            return 0.05
        return self._settings.prune_every * random.uniform(0.8, 1.2)
