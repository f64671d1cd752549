"""A worker: the loops of one instance around the attempts it holds."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hanbeon.cleanup import to_the_end
from hanbeon.clock import Clock
from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import Reason
from hanbeon.engine.attempt import Attempt, Claim
from hanbeon.engine.completion import CompletionBuffer
from hanbeon.engine.garbage_collector import tune_collector
from hanbeon.engine.idle_poll import IdlePoll
from hanbeon.engine.instance import Instance, ServedTasks
from hanbeon.engine.logs import Logs
from hanbeon.engine.loop import AGAIN, LONGEST_PAUSE, Loop
from hanbeon.engine.maintenance import Maintenance
from hanbeon.engine.poller import Poller
from hanbeon.engine.pool import Pool, TaskPool, run_here
from hanbeon.engine.runner import Mask, runner_of
from hanbeon.engine.running_attempts import Renewer, RunningAttempts, hand_back, let_finish
from hanbeon.engine.signals import handling_signals
from hanbeon.engine.source import RELOADABLE, Reloader, SourceChange, TaskSource
from hanbeon.engine.stream.bridge import StreamBridge
from hanbeon.engine.stream.wire import Wire
from hanbeon.engine.watchdog import Watchdog
from hanbeon.errors import DatabaseRestored, DatabaseUnavailable
from hanbeon.events.hub import Hub
from hanbeon.executors.coroutine import AsyncExecutor
from hanbeon.executors.executor import Executor, StopCause, time_limits
from hanbeon.executors.output import capture
from hanbeon.guarded_task import guarded_task
from hanbeon.logs import get_logger
from hanbeon.settings import Settings
from hanbeon.store.operations import instances as instance_rows
from hanbeon.store.store import Store
from hanbeon.tasks.registry import Registry
from hanbeon.tasks.task import STREAM, Task

_log = get_logger("hanbeon.engine")
_CANCEL_SECONDS = 1.0
_CANCELS_AT_MOST = 5
_CHECK_SECONDS = 0.02
_CLAIMS_AT_MOST = 20
_STEPS_TO_BEGIN = 2  # Of the event loop: a body starts, and runs to its first wait.


def default_name() -> str:
    """Return the name of a worker that is given none."""
    return f"{socket.gethostname()}:{os.getpid()}"


class Done(NamedTuple):
    """The work of a worker so far: attempts that ended, by reason, and how many jobs and rows it maintained."""

    ended: Mapping[Reason, int]
    recovered: int
    promoted: int
    pruned: int


class Worker:
    """Runs jobs of the registered tasks. `async with worker:` or `await worker.run()`; `tick()` is one cycle.

    `pools` are sets of built-in tasks. They run in slots of their own, beside the main pool of the registered tasks.
    """

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
        pools: Sequence[TaskPool | None] = (),
        pollers: Sequence[Poller] = (),
        wire: Wire | None = None,
        queues: Sequence[str] | None = None,
        declare: Callable[[], Awaitable[None]] | None = None,
        mask: Mask = str,
        watched: bool = True,
    ) -> None:
        """`wire`: stream tasks are dispatched over it, instead of being run here.

        `pollers`: work of surfaces beside jobs. `queues`: claim registered tasks only from these; for a part
        of the work.

        `declare`: puts what else a file declares in force, once the tasks are known.

        `mask`: removes secrets from the texts of failures.
        """
        self._declare = declare
        self._store, self._hub = store, hub
        self._settings, self._clock = settings, clock
        self._zone = settings.zone
        self._executors = {executor.name: executor for executor in executors}
        self.name = name or default_name()
        served = ServedTasks(registry, self._executors, remote=wire is not None)
        main = TaskPool("jobs", served, settings.concurrency, hints=("work", "job"), queues=queues)
        self.attempts = RunningAttempts(
            store, clock, idle_seconds=settings.poll, grace_seconds=time_limits(settings).grace
        )
        specs = [*(each for each in pools if each is not None), main]
        claimable = list if wire is None else run_here
        self.pools = [Pool(each, store, settings, clock, self._begin, self.attempts, claimable) for each in specs]
        self.stream = None if wire is None else StreamBridge(store, settings, clock, wire, self._stream_tasks)
        self.main = self.pools[-1]
        # Those with a relay know from it if there can be jobs.
        beside = [each for each in self.pools if each is not self.main and each.relay is None]
        self.pollers = pollers
        self.polls = {each.name: Loop(each.name, each.run_once) for each in pollers}
        woken = {each: self.polls[each.name].wake for each in pollers}
        self._idle_poll = IdlePoll(store, settings, clock, beside, woken)
        listed = [task for each in specs if each.listed for task in each.tasks]
        self._instance = Instance(self.name, store, served, pollers, listed)
        self._completion = CompletionBuffer(store, clock)
        self._runner = runner_of(store, self._completion, clock, settings.max_payload_bytes, self._ended, mask)
        self._logs = Logs(store, settings, clock, wake=self._printed)
        self._renewer = Renewer(store, self.attempts, settings, clock)
        self._watched = watched
        self._watchdog = Watchdog(store, self.attempts, settings, clock)
        self._maintenance = Maintenance(store, settings, self._idle_poll.next_due)
        self._reloader = Reloader(source, store, self._change)
        self._loop_tasks: list[asyncio.Task[None]] = []
        self._begun: list[list[str]] = []
        self._hints = contextlib.ExitStack()
        self._captures = False
        self._stop_requested = asyncio.Event()
        self._stop_now = asyncio.Event()
        self.guard = Loop("guard", self.attempts.guard)
        # A database that refuses for a moment must not cost a lease: it is asked again well before the end of one.
        self.renew = Loop("renew", self._renewer.renew, longest_pause=min(LONGEST_PAUSE, settings.lease / 10))
        self.watch = Loop("watch", self._renewer.watch)
        self.complete = Loop("complete", self._completion.run_once)
        self.log = Loop("log", self._logs.run_once)
        self.recover = Loop("recover", self._recover)
        self.promote = Loop("promote", self._maintenance.promote)
        self.number = Loop("number", self._maintenance.number)
        self.fold = Loop("fold", self._maintenance.fold)
        self.prune = Loop("prune", self._maintenance.prune)
        self.beat = Loop("beat", self._beat)
        self.reload = Loop("reload", self._reloader.run_once)

    @property
    def instance(self) -> int:
        """The number by which the other instances know this worker; 0 before it is registered."""
        return self._instance.id

    async def __aenter__(self) -> Worker:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    async def register(self) -> None:
        """Declare the queues, the tasks and what surfaces declare, and register among the instances."""
        self._logs.attach(asyncio.get_running_loop())
        if self._settings.captures_output and not self._captures:
            self._captures = True
            capture.install()
        await self._reloader.declare()
        await self._instance.register(self._settings)
        if self._declare is not None:
            await self._declare()
        for pool in self.pools:
            pool.claimer.instance = self.instance
        if self.stream is not None:
            self.stream.instance = self.instance

    async def start(self) -> None:
        await self.register()
        for pool in self.pools:
            self._hints.enter_context(pool.listening(self._hub))
        if self.stream is not None:
            self._hints.enter_context(self._hub.calling(self.stream.work_arrived, *self.main.hints))
            self._hints.enter_context(self._hub.calling(self.stream.clear.wake, "stop"))
        self._hints.enter_context(self._hub.calling(self.promote.wake, "later"))
        self._hints.enter_context(self._hub.calling(self.watch.wake, "stop"))
        self._hints.enter_context(self._hub.calling(self.beat.wake, "drain"))
        self._hints.enter_context(self._hub.calling(self.number.wake, "event"))
        self._hints.enter_context(self._hub.calling(self.fold.wake, "event"))
        for each in self.pollers:
            self._hints.enter_context(self._hub.calling(self.polls[each.name].wake, *each.hints))
        self._hints.enter_context(self._hub.calling(self._wake_waiting, "event"))
        tracer = self._store.tracer
        with contextlib.nullcontext() if tracer is None else tracer.detached():
            self._start_loops()
        _log.info(
            "worker_started",
            instance=self.instance,
            name=self.name,
            tasks=list(self.main.tasks),
            timezone=self._zone.key,
        )

    def _start_loops(self) -> None:
        for each in self._loops():
            each.was_blocked = self._watchdog.was_blocked
        self._watchdog.instance = self.instance
        if self._watched:
            self._watchdog.start()
        self._loop_tasks = [guarded_task(each.run(), name=f"hanbeon-{each.name}") for each in self._loops()]
        self._loop_tasks.append(guarded_task(self._end_if_restored(), name="hanbeon-restored"))

    def _printed(self) -> None:
        self.log.wake()

    def _wake_waiting(self) -> None:
        for each in self.pollers:
            if each.waiting:
                self.polls[each.name].wake()

    def _loops(self) -> list[Loop]:
        running = [self.guard, self.renew, self.watch, self.log, self.complete]
        maintaining = [self.number, self.fold, self.prune, self.beat, self.reload]
        streaming = [] if self.stream is None else self.stream.loops
        return [*running, *maintaining, *streaming, *self.work_loops]

    def _stream_tasks(self) -> dict[str, Task[..., Any]]:
        return {name: task for pool in self.pools for name, task in pool.tasks.items() if task.executor == STREAM}

    @property
    def work_loops(self) -> list[Loop]:
        """The loops that bring work, in their order. If none of them finds any and nothing runs, there is none.

        The claim of the main pool comes last, so that a caller who steps through them sees running what it began.
        """
        return [self.recover, *self.polls.values(), self.promote, *(each for pool in self.pools for each in pool.loops)]

    @property
    def done(self) -> Done:
        """The work of this worker since it was created."""
        counts = self._maintenance
        return Done(dict(self._runner.ends), counts.recovered, counts.promoted, counts.pruned)

    async def run(self) -> None:
        """Work until SIGTERM or SIGINT, then stop cleanly; a second signal hands everything back at once.

        SIGHUP reloads the file that the App came from, unless it means that the terminal is gone: then it stops.
        Raises DatabaseRestored if the database was restored from a backup meanwhile, after stopping all work.
        """
        tune_collector()
        self._watchdog.ends_process = True
        with handling_signals(self.stop_soon, self.reload_soon):
            async with self:
                await self._stop_requested.wait()
        if self._store.restored.is_set():
            raise DatabaseRestored

    async def _end_if_restored(self) -> None:
        """Stop all work once the database turns out to be restored: what runs here is not what it says is running."""
        await self._store.restored.wait()
        _log.error("database_restored", instance=self.instance, running=len(self.attempts), remedy="start it again")
        for pool in self.pools:
            pool.claimer.is_open = False
        self.attempts.stop_all(StopCause.LEASE_LOST)
        self.stop_soon()

    def reload_soon(self) -> None:
        """Reload the App's file, as SIGHUP does."""
        self._reloader.request()
        self.reload.wake()

    async def _change(self, change: SourceChange) -> None:
        """Put a reloaded source in force. Jobs that run keep the task they began with."""
        changes = {name: value for name, value in change.settings.items() if name in RELOADABLE}
        async with self.main.claimer.at_rest():
            change.put_in_force()
            self._settings = self._settings.model_copy(update=changes)
            self.main.slots = self._settings.concurrency
            self._renewer.settings = self._maintenance.settings = self._settings
            for poller in self.pollers:
                poller.settings = self._settings
        await self._instance.declare(self._settings)
        await self.beat.run_once()
        self.main.work_arrived()
        self.watch.wake()
        self.prune.wake()

    def stop_soon(self) -> None:
        """Stop after the grace time, as the first signal does; a second call stops at once.

        It only ends `run()`. A caller who entered the worker with `async with` leaves the block itself.
        """
        if self._stop_requested.is_set():
            self._stop_now.set()
        else:
            running = len(self.attempts)
            waits = {"grace": self._settings.shutdown_grace, "hint": "a second signal stops at once"} if running else {}
            _log.info("worker_stopping", instance=self.instance, running=running, **waits)
        self._stop_requested.set()

    async def stop(self) -> None:
        """Claim nothing more, let running jobs finish within the grace time, hand the rest back, leave.

        If the caller is cancelled meanwhile, jobs are no longer waited for; all else is done.
        """
        await to_the_end(self._stop(), self._stop_now.set)

    async def _stop(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.heartbeat):
                await asyncio.gather(*(pool.claimer.close() for pool in self.pools))
        await let_finish(self.attempts, self._settings.shutdown_grace, self._stop_now)
        await hand_back(self.attempts, self._settings.lease)
        with contextlib.suppress(DatabaseUnavailable, TimeoutError):
            await self.write_logs()  # Of threads that do not stop.
        self._watchdog.stop()
        await _cancel(self._loop_tasks)
        await self._hand_back_unanswered()
        # Only then: a loop that ends hands what it had not finished over to tasks of the runner.
        await _cancel(self._runner.tasks)
        self._hints.close()
        for executor in self._executors.values():
            await executor.close()
        if self._captures:
            self._captures = False
            capture.remove()
        if self.stream is not None:
            await self.stream.close()
        with contextlib.suppress(DatabaseUnavailable):
            await self._store.write(lambda tx: instance_rows.leave(tx, self.instance))
        _log.info("worker_stopped", instance=self.instance)

    async def _hand_back_unanswered(self) -> None:
        """Ask a last time: a claim that was under way until now may have committed."""
        with contextlib.suppress(DatabaseUnavailable, TimeoutError):
            async with asyncio.timeout(self._settings.heartbeat):
                for pool in self.pools:
                    await pool.claimer.unanswered.settle(at_once=True)

    async def end_if_idle(self) -> bool:
        """Claim nothing more from here on, unless there is something to claim or something runs."""
        for pool in self.pools:
            if not await pool.claimer.close_if_idle() or len(self.attempts):
                for closed in self.pools:
                    closed.claimer.reopen()
                return False
        return True

    async def tick(self) -> int:
        """Run one cycle without the loops: start what may start now, wait for all that runs; return how many jobs."""
        await self.start_ready()
        ran = len(self.attempts)
        await self.settle()
        return ran

    async def start_ready(self) -> None:
        """Run one step of each loop that brings work. Returns once every body has begun."""
        if not self.instance:
            await self.register()
        await self.beat.run_once()
        for pool in self.pools:
            pool.check_listeners()  # Without the loops, nothing receives the hints of others.
        for each in self.work_loops:
            await each.run_once()
        for executor in self._executors.values():
            while isinstance(executor, AsyncExecutor) and executor.starting:  # noqa: ASYNC110 - step by step
                await asyncio.sleep(0)
        for _ in range(_STEPS_TO_BEGIN):
            await asyncio.sleep(0)
        await self.write_logs()

    async def start_now(self, queue: str) -> int:
        """Claim at once, beside the loops if they run; return how many jobs of the queue began here meanwhile."""
        if not self.instance:
            await self.register()
        begun: list[str] = []
        self._begun.append(begun)
        try:
            self.main.claimer.look_again()
            for _ in range(_CLAIMS_AT_MOST):
                if await self.main.claim.run_once() > AGAIN:
                    break
        finally:
            self._begun = [each for each in self._begun if each is not begun]
        return begun.count(queue)

    async def write_logs(self) -> None:
        """Write to the database what all running attempts have printed until now."""
        await self._logs.write_now([each.printed for each in self.attempts if each.printed is not None])

    async def settle(self, *, stopping_only: bool = False) -> None:
        """Wait until all that runs (or only what is stopping) has ended and been recorded, doing the loops' work."""
        writing = [guarded_task(each.run()) for each in (self.complete, self.log)]
        renew_at = self._clock.monotonic() + self._settings.heartbeat
        try:
            while any(attempt.stopping for attempt in self.attempts) if stopping_only else len(self.attempts):
                await self.guard.run_once()
                await self.watch.run_once()
                if self._clock.monotonic() >= renew_at:
                    await self.renew.run_once()
                    renew_at = self._clock.monotonic() + self._settings.heartbeat
                await self.attempts.any_left(_CHECK_SECONDS)
        finally:
            await _cancel(writing)

    def _begin(self, pool: Pool, jobs: Sequence[Claimed], sent_at: float) -> None:
        """Start the attempts of claimed jobs."""
        if jobs and not len(self.attempts):
            # It sleeps, having had nothing to look after. Not at once: a claim is news enough for a while.
            asyncio.get_running_loop().call_later(self._settings.watch, self.watch.wake)
        claims: dict[str, tuple[Task[..., Any], Claim]] = {}
        for job in jobs:
            self._begin_one(pool, job, sent_at, claims)

    def _begin_one(
        self, pool: Pool, job: Claimed, sent_at: float, claims: dict[str, tuple[Task[..., Any], Claim]]
    ) -> None:
        """Start the attempt of a claimed job. Nothing is raised: the others of the same claim follow."""
        try:
            if (known := claims.get(job.task)) is None:
                task = pool.tasks[job.task]
                known = claims[job.task] = task, self._claim(self._executors[task.executor], sent_at)
            task, claim = known
            attempt = Attempt(job, claim)
        except Exception as error:
            self._runner.refuse(job, error, sent_at + self._settings.lease)
            return
        attempt.slots = pool
        if self.attempts.add(attempt):
            self.guard.wake()
        pool.running.add(attempt)
        if not pool.claimer.is_open:
            attempt.stop(StopCause.SHUTDOWN)  # The last claim was answered too late: handed back before it begins.
        self._runner.start(attempt, task)
        for begun in self._begun:
            begun.append(job.queue)

    def _claim(self, executor: Executor, sent_at: float) -> Claim:
        return Claim(
            self._store,
            executor,
            claimed_at=sent_at,
            lease_seconds=self._settings.lease,
            zone=self._zone,
            zone_of_naive=self._settings.zone_of_naive,
            max_payload_bytes=self._settings.max_payload_bytes,
            logs=self._logs,
            sooner=self.guard.wake,
        )

    def _ended(self, attempts: Sequence[Attempt]) -> None:
        self.attempts.remove(attempts)
        for pool in dict.fromkeys(attempt.slots for attempt in attempts if attempt.slots is not None):
            pool.ended(attempts)
        for attempt in attempts:
            if attempt.printed is not None:
                self._logs.forget(attempt.printed)

    async def _recover(self) -> float:
        """Recover expired leases; jobs that never began here are not lost, and are handed back first."""
        for pool in self.pools:
            await pool.claimer.hand_back_unanswered()
        return await self._maintenance.recover()

    async def _beat(self) -> float:
        status = await self._instance.beat(len(self.main.running), self._settings.concurrency)
        if not status.known:
            await self.register()
            self._watchdog.instance = self.instance
        if status.draining is not self.main.claimer.draining:
            _log.info("worker_draining" if status.draining else "worker_resumed", instance=self.instance)
            for pool in self.pools:
                pool.claimer.draining = status.draining
                pool.work_arrived()
        return self._settings.heartbeat


async def _cancel(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel the tasks and wait for their end, again and again: libraries swallow a cancellation now and then."""
    pending = list(tasks)
    for _ in range(_CANCELS_AT_MOST):
        if not pending:
            return
        for task in pending:
            task.cancel()
        await asyncio.wait(pending, timeout=_CANCEL_SECONDS)
        pending = [task for task in pending if not task.done()]
