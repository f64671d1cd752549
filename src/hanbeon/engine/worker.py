"""A worker: the loops of one instance around the attempts it holds."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import NamedTuple

from hanbeon.clock import Clock, micros
from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import Reason
from hanbeon.domain.schedules.declaration import Declaration
from hanbeon.engine.attempt import Attempt
from hanbeon.engine.claim import Claimer
from hanbeon.engine.completion import CompletionBuffer
from hanbeon.engine.logs import Logs
from hanbeon.engine.loop import AGAIN, Loop
from hanbeon.engine.maintenance import Maintenance
from hanbeon.engine.pool import TaskPool
from hanbeon.engine.reload import AT_ONCE, Reloader
from hanbeon.engine.renew import Renewer
from hanbeon.engine.runner import Runner
from hanbeon.engine.running_attempts import RunningAttempts
from hanbeon.engine.schedule_declarer import ScheduleDeclarer
from hanbeon.engine.schedule_poller import SchedulePoller
from hanbeon.engine.signals import heeding
from hanbeon.engine.source import SourceChange, TaskSource
from hanbeon.errors import DatabaseUnavailable
from hanbeon.events.hub import Hub
from hanbeon.executors.executor import Executor, StopCause
from hanbeon.logs import get_logger
from hanbeon.settings import Settings
from hanbeon.store.operations.fires import Moment
from hanbeon.store.operations.instances import NewInstance
from hanbeon.store.operations.tasks import follow, register_tasks
from hanbeon.store.store import Store
from hanbeon.tasks.registry import Registry
from hanbeon.tasks.task_settings import settings_of

_log = get_logger("hanbeon.engine")
_END_SECONDS = 5.0
_LOOK_SECONDS = 0.02
_LOOKS = 20
_GATHER_SECONDS, _GATHER_ENDS_SECONDS = 0.05, 0.01
_STEPS_TO_BEGIN = 2  # Of the event loop: a body starts, and runs to its first wait.


class Done(NamedTuple):
    """What a worker has done: the attempts that ended, by why they did, and jobs and rows it looked after."""

    ended: Mapping[Reason, int]
    recovered: int
    promoted: int
    pruned: int


class Worker:
    """Runs jobs of the registered tasks. `async with worker:` or `await worker.run()`; `tick()` is one cycle."""

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
        source: TaskSource | None = None,
        side: TaskPool | None = None,
        schedules: Callable[[], Sequence[Declaration]] = tuple,
    ) -> None:
        self._store, self._hub, self._registry = store, hub, registry
        self._settings, self._clock = settings, clock
        self._zone = settings.zone
        self._executors = {executor.name: executor for executor in executors}
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        self.holdings = RunningAttempts(store, clock, idle_seconds=settings.poll)
        self._completion = CompletionBuffer(store, clock)
        self._runner = Runner(store, self._completion, clock, settings.max_payload_bytes, ended=self._ended)
        self._claimer = Claimer(store, settings, clock, tasks=self._served, running=self._running, start=self._begin)
        self._side = side
        self._side_running: set[Attempt] = set()
        self._side_claimer = Claimer(
            store,
            settings.model_copy(update={"concurrency": 0 if side is None else side.slots}),
            clock,
            tasks=lambda: [] if side is None else list(side.tasks),
            running=lambda: len(self._side_running),
            start=self._begin,
        )
        self._logs = Logs(store, settings, clock, wake=self._printed)
        self._renewer = Renewer(store, self.holdings, settings, clock)
        self.trigger = SchedulePoller(store, settings, clock)
        self._upkeep = Maintenance(store, settings, self._saw_a_fire)
        self._reloader = Reloader(source, store, self._change)
        self._declarer = ScheduleDeclarer(store, schedules, self.name)
        self._looping: list[asyncio.Task[None]] = []
        self._begun: list[list[str]] = []
        self._hints = contextlib.ExitStack()
        self._stop_requested = asyncio.Event()
        self._hurry = asyncio.Event()
        self.claim = Loop("claim", self._claimer.run_once)
        self.guard = Loop("guard", self.holdings.guard)
        self.renew = Loop("renew", self._renewer.renew)
        self.watch = Loop("watch", self._renewer.watch)
        self.complete = Loop("complete", self._completion.run_once)
        self.log = Loop("log", self._logs.run_once)
        self.recover = Loop("recover", self._upkeep.recover)
        self.promote = Loop("promote", self._upkeep.promote)
        self.fire = Loop("fire", self.trigger.run_once)
        self.number = Loop("number", self._upkeep.number)
        self.fold = Loop("fold", self._upkeep.fold)
        self.prune = Loop("prune", self._upkeep.prune)
        self.beat = Loop("beat", self._beat)
        self.reload = Loop("reload", self._reloader.run_once)
        self.relay = Loop("relay", self._relay)
        self.send = Loop("send", self._send)

    @property
    def instance(self) -> int:
        """The number under which the others know this worker."""
        return self._claimer.instance

    async def __aenter__(self) -> Worker:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    async def register(self) -> None:
        """Declare the queues, the tasks and the schedules, and show up among the instances."""
        self._logs.attach(asyncio.get_running_loop())
        await self._reloader.declare()
        await self._register_tasks()
        await self._declare_schedules()
        self._claimer.instance = await self._store.register(
            NewInstance(
                self.name,
                socket.gethostname(),
                os.getpid(),
                version("hanbeon"),
                self._served(),
                self._settings.concurrency,
                self._declarer.names,
            )
        )
        self._side_claimer.instance = self._claimer.instance

    async def start(self) -> None:
        await self.register()
        self._hints.enter_context(self._hub.calling(self._work_came, "work"))
        self._hints.enter_context(self._hub.calling(self.promote.wake, "later"))
        self._hints.enter_context(self._hub.calling(self.watch.wake, "stop"))
        self._hints.enter_context(self._hub.calling(self.number.wake, "event"))
        self._hints.enter_context(self._hub.calling(self.fold.wake, "event"))
        self._hints.enter_context(self._hub.calling(self.fire.wake, "fire"))
        self._hints.enter_context(self._hub.calling(self._something_ended, "event"))
        self._hints.enter_context(self._hub.calling(self.relay.wake, "event"))
        self._hints.enter_context(self._hub.calling(self._somebody_listens, "outgoing"))
        loop = asyncio.get_running_loop()
        self._looping = [loop.create_task(each.run(), name=f"hanbeon-{each.name}") for each in self._loops()]
        _log.info("worker_started", instance=self.instance, name=self.name, tasks=self._served())

    def _work_came(self) -> None:
        self._claimer.look_again()
        self.claim.wake()

    def _something_ended(self) -> None:
        if self.trigger.waiting:
            self.fire.wake()

    def _saw_a_fire(self, moment: Moment) -> None:
        if self.trigger.oversleeps(moment):
            self.fire.wake()

    def _somebody_listens(self) -> None:
        """Or has something waiting for them."""
        if self._side is not None:
            self._side.relay.look_again()
        self._side_claimer.look_again()
        self.relay.wake()
        self.send.wake()

    def _printed(self) -> None:
        self.log.wake()

    def _loops(self) -> list[Loop]:
        working = [self.claim, self.guard, self.renew, self.watch, self.log, self.complete]
        upkeep = [self.recover, self.fire, self.promote, self.number, self.fold, self.prune, self.beat, self.reload]
        return [*working, *upkeep, *self._side_loops]

    @property
    def _side_loops(self) -> list[Loop]:
        return [] if self._side is None else [self.relay, self.send]

    @property
    def bringing(self) -> list[Loop]:
        """The loops that bring work, in their order: where none of them finds any and nothing runs, there is none.

        The claim at last: what it begins is to be seen running by whoever steps through them.
        """
        return [self.recover, self.fire, self.promote, *self._side_loops, self.claim]

    @property
    def done(self) -> Done:
        """What this worker has done since it was made."""
        kept = self._upkeep
        return Done(dict(self._runner.ends), kept.recovered, kept.promoted, kept.pruned)

    async def run(self) -> None:
        """Work until SIGTERM or SIGINT, then stop cleanly; a second signal hands everything back at once.

        SIGHUP reads the file that the App came from again, unless it says that the terminal is gone: then it stops.
        """
        _calm_the_collector()
        with heeding(self.stop_soon, self.reload_soon):
            async with self:
                await self._stop_requested.wait()

    def reload_soon(self) -> None:
        """Read the App's file again: what SIGHUP asks for."""
        self._reloader.ask()
        self.reload.wake()

    async def _change(self, change: SourceChange) -> None:
        """Work by what a source says now. What runs goes on with the task that it began with."""
        changes = {name: value for name, value in change.settings.items() if name in AT_ONCE}
        async with self._claimer.at_rest():
            change.put_in_force()
            self._settings = self._settings.model_copy(update=changes)
            self._claimer.settings = self._renewer.settings = self._upkeep.settings = self._settings
            self.trigger.settings = self._settings
        await self._register_tasks()
        await self._declare_schedules()
        await self.beat.run_once()
        self._work_came()
        self.watch.wake()
        self.prune.wake()

    def stop_soon(self) -> None:
        """What a first signal asks for, and a second one sooner. Who does not `run` the worker ends it then."""
        if self._stop_requested.is_set():
            self._hurry.set()
        else:
            _log.info("worker_stopping", instance=self.instance, running=len(self.holdings))
        self._stop_requested.set()

    async def stop(self) -> None:
        """Claim nothing more, let running jobs finish within the grace time, hand the rest back, leave."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.heartbeat):
                await self._claimer.close()
                await self._side_claimer.close()
        await self._let_finish()
        await self._hand_back()
        with contextlib.suppress(DatabaseUnavailable, TimeoutError):
            await self.write_logs()  # Of threads that do not stop.
        await _end(self._looping)
        # Only then: a loop that ends hands what it had not finished over to tasks of the runner.
        await _end(self._runner.tasks)
        self._hints.close()
        for executor in self._executors.values():
            await executor.close()
        with contextlib.suppress(DatabaseUnavailable):
            await self._store.leave(self.instance)
        _log.info("worker_stopped", instance=self.instance)

    async def _let_finish(self) -> None:
        """Returns when nothing runs any more, when the grace time is over, or at the second signal.

        Not before claiming has ended: a claim under way would take what is handed back, and start it here again.
        """
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + self._settings.shutdown_grace
        hurry = loop.create_task(self._hurry.wait())
        while len(self.holdings) and not hurry.done() and (left := ends_at - loop.time()) > 0:
            await self.holdings.any_left(min(left, _LOOK_SECONDS))
        hurry.cancel()

    async def _hand_back(self) -> None:
        """Stop what runs. Returns when the database knows of all that has stopped, within the time of a lease.

        Processes get their grace. Threads cannot be stopped: their leases are renewed no longer, and their jobs are
        recovered elsewhere.
        """
        self.holdings.stop_all(StopCause.SHUTDOWN)
        loop = asyncio.get_running_loop()
        began_at = loop.time()
        while len(self.holdings):
            telling = any(attempt.settling for attempt in self.holdings)
            stopping = max(attempt.executor.stop_seconds for attempt in self.holdings)
            patience = max(1.0, self._settings.lease / 10) + stopping
            if loop.time() - began_at > (self._settings.lease if telling else patience):
                return
            await self.holdings.any_left(_LOOK_SECONDS)

    async def end_if_idle(self) -> bool:
        """Claim nothing more from here on, unless there is something to claim or something runs."""
        claimers = [self._claimer] if self._side is None else [self._side_claimer, self._claimer]
        for each in claimers:
            if not await each.close_if_idle() or len(self.holdings):
                for closed in claimers:
                    closed.reopen()
                return False
        return True

    async def tick(self) -> int:
        """One cycle without the loops: start what may start now, and see all that runs to its end; how many jobs."""
        await self.start_ready()
        ran = len(self.holdings)
        await self.settle()
        return ran

    async def start_ready(self) -> None:
        """One step of the loops that bring work, from recovering to sending. Returns once every body has begun."""
        if not self.instance:
            await self.register()
        await self.beat.run_once()
        if self._side is not None:
            self._side.relay.look_again()  # Without the loops, nobody hears the word of others.
        for each in self.bringing:
            await each.run_once()
        for _ in range(_STEPS_TO_BEGIN):
            await asyncio.sleep(0)
        await self.write_logs()

    async def start_now(self, queue: str) -> int:
        """Look for work at once, beside the loops if they run; how many jobs of the queue began here meanwhile."""
        if not self.instance:
            await self.register()
        begun: list[str] = []
        self._begun.append(begun)
        try:
            self._claimer.look_again()
            for _ in range(_LOOKS):
                if await self.claim.run_once() > AGAIN:
                    break
        finally:
            self._begun = [each for each in self._begun if each is not begun]
        return begun.count(queue)

    async def write_logs(self) -> None:
        """Have the database know what all that runs has printed until now."""
        await self._logs.write_now([each.printed for each in self.holdings if each.printed is not None])

    async def settle(self, *, stopping_only: bool = False) -> None:
        """See what runs (or only what was told to stop) to its acknowledged end, doing the work of the loops."""
        loop = asyncio.get_running_loop()
        writing = [loop.create_task(each.run()) for each in (self.complete, self.log)]
        renew_at = self._clock.monotonic() + self._settings.heartbeat
        try:
            while any(attempt.stopping for attempt in self.holdings) if stopping_only else len(self.holdings):
                await self.guard.run_once()
                await self.watch.run_once()
                if self._clock.monotonic() >= renew_at:
                    await self.renew.run_once()
                    renew_at = self._clock.monotonic() + self._settings.heartbeat
                await self.holdings.any_left(_LOOK_SECONDS)
        finally:
            await _end(writing)

    def _served(self) -> list[str]:
        return [task.name for task in self._registry if task.executor in self._executors]

    async def _register_tasks(self) -> None:
        served = {task.name: settings_of(task.options) for task in self._registry if task.executor in self._executors}
        for job in await self._store.write(lambda tx: register_tasks(tx, served, self.name)):
            await self._store.write(partial(follow, job=job))

    def _running(self) -> int:
        """How many of its slots are taken; built-in tasks have others."""
        return len(self.holdings) - len(self._side_running)

    async def _relay(self) -> float:
        """Events come with every commit: gather them."""
        assert self._side is not None
        if self._side.relay.listening:
            await asyncio.sleep(_GATHER_SECONDS)
        return await self._side.relay.run_once()

    async def _send(self) -> float:
        """Claim jobs of built-in tasks; rarely, while there can hardly be any."""
        assert self._side is not None
        if self._side_running:
            await asyncio.sleep(_GATHER_ENDS_SECONDS)  # Several end together: one claim fills their slots.
        pause = await self._side_claimer.run_once()
        return pause if pause <= AGAIN or self._side.relay.listening else self._side.relay.quiet_seconds

    async def _declare_schedules(self) -> None:
        await self._declarer.declare(micros(self._settings.lease))

    def _begin(self, job: Claimed, sent_at: float) -> None:
        built_in = None if self._side is None else self._side.tasks.get(job.task)
        task = built_in or self._registry.get(job.task)
        attempt = Attempt(
            job,
            self._store,
            self._executors[task.executor],
            claimed_at=sent_at,
            lease_seconds=self._settings.lease,
            zone=self._zone,
            max_payload_bytes=self._settings.max_payload_bytes,
            logs=self._logs,
            sooner=self.guard.wake,
        )
        if not len(self.holdings):
            self.watch.wake()  # It slept, having nothing to look after.
        self.holdings.add(attempt)
        if built_in is not None:
            self._side_running.add(attempt)
        if not self._claimer.is_open:
            attempt.stop(StopCause.SHUTDOWN)  # The last answer, come too late: handed back before it begins.
        self.guard.wake()
        self._runner.start(attempt, task)
        for begun in self._begun:
            begun.append(job.queue)

    def _ended(self, attempt: Attempt) -> None:
        self.holdings.remove(attempt)
        if attempt.printed is not None:
            self._logs.forget(attempt.printed)
        if attempt in self._side_running:
            self._side_running.discard(attempt)
            self.send.wake()
        else:
            self.claim.wake()

    async def _beat(self) -> float:
        running, served, declared = self._running(), self._served(), self._declarer.names
        if not await self._store.beat(self.instance, running, served, self._settings.concurrency, declared):
            await self.register()
        return self._settings.heartbeat


async def _end(tasks: Iterable[asyncio.Task[None]]) -> None:
    ending = list(tasks)
    for task in ending:
        task.cancel()
    if ending:
        await asyncio.wait(ending, timeout=_END_SECONDS)


def _calm_the_collector() -> None:
    """For a process that is a worker and nothing else.

    What was loaded until now stays; going through it again and again cost a third of the time of small jobs. Jobs make
    many objects that live for milliseconds and no cycles, so the collector need not come as often.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
