"""The loops between the database and Redis: dispatch, send, receive, clear away, and maintain the streams."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import msgspec

from hanbeon.chance import chance
from hanbeon.clock import Clock, micros
from hanbeon.engine.loop import AGAIN, LONGEST_PAUSE, Loop
from hanbeon.engine.stream.replies import ReplyReader
from hanbeon.engine.stream.wire import Wire, WireDownError
from hanbeon.executors.executor import time_limits
from hanbeon.logs import get_logger
from hanbeon.settings import Settings
from hanbeon.store.operations import dispatches
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest
from hanbeon.store.operations.stream import dispatch, end_silent
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx
from hanbeon.tasks.stream_call import StreamCall
from hanbeon.tasks.task import Task

_log = get_logger("hanbeon.engine")
_BATCH = 500
_EPOCH_SECONDS = 1.0
_CHECK_SECONDS = 5.0
_STATUS_SECONDS = 60.0
_TAKE_OVER_MS = 10_000
_CLOSE_SECONDS = 1.0

StreamTasks = Callable[[], Mapping[str, Task[..., Any]]]


class Stream:
    """One stream: the calls of its tasks by task, and how far they may go ahead of the workers."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: dict[str, StreamCall] = {}
        self.cursor = 0

    @property
    def window(self) -> int:
        return max(call.window for call in self.calls.values())


class StreamBridge:
    """All that an instance does for stream tasks. It decides nothing: the database does, by fence and state."""

    def __init__(self, store: Store, settings: Settings, clock: Clock, wire: Wire, tasks: StreamTasks) -> None:
        self._store, self._settings, self._clock, self._wire, self._tasks = store, settings, clock, wire, tasks
        self.instance = 0
        self._streams: dict[str, Stream] = {}
        self._epoch = ""
        self._epoch_until = 0.0
        self._prepared: frozenset[str] = frozenset()
        self._written: dict[str, tuple[tuple[int, int], float]] = {}
        self._down = False
        self.take_over_ms = _TAKE_OVER_MS
        """After this long, replies that another server has read and not acknowledged are taken over."""
        self._replies = ReplyReader(store, settings, wire)
        self.dispatch = Loop("stream_dispatch", self._dispatch)
        self.send = Loop("stream_send", self._over_the_wire(self._send))
        self.receive = Loop("stream_receive", self._over_the_wire(self._receive))
        self.clear = Loop("stream_clear", self._clear)
        self.maintain = Loop("stream_maintain", self._over_the_wire(self._maintain))

    @property
    def loops(self) -> list[Loop]:
        return [self.dispatch, self.send, self.receive, self.clear, self.maintain]

    def work_arrived(self) -> None:
        self.dispatch.wake()

    async def close(self) -> None:
        await self._wire.close()

    def streams(self) -> dict[str, Stream]:
        """Return the streams of the registered tasks, which a reload may have changed."""
        found: dict[str, Stream] = {}
        for name, task in self._tasks().items():
            call = cast(StreamCall, task.spec)
            stream = found.setdefault(call.name, self._streams.get(call.name) or Stream(call.name))
            stream.calls[name] = call
        self._streams = found
        return found

    def _over_the_wire(self, step: Callable[[], Awaitable[float]]) -> Callable[[], Awaitable[float]]:
        """Have a step wait while Redis is down, which is not an error of the engine."""

        async def run() -> float:
            try:
                pause = await step()
            except WireDownError as error:
                self._prepared = frozenset()
                self._epoch_until = 0.0
                if not self._down:
                    self._down = True
                    _log.warning("redis_unavailable", error=str(error))
                    await self._note_failure(str(error))
                return chance.uniform(0.2, 1.0)
            if self._down:
                self._down = False
                _log.info("redis_available")
            return pause

        return run

    async def _note_failure(self, error: str) -> None:
        for name in self.streams():
            await self._store.write(lambda tx, name=name: dispatches.note_failure(tx, name, error))  # type: ignore[misc]
        self._written.clear()

    # ready → dispatched

    async def _dispatch(self) -> float:
        again = False
        for stream in self.streams().values():
            answer = await self._dispatch_of(stream)
            again = again or bool(answer.jobs or answer.cursor)
            stream.cursor = answer.cursor
            if answer.jobs:
                self.send.wake()
        return AGAIN if again else self._settings.poll

    async def _dispatch_of(self, stream: Stream) -> ClaimAnswer:
        tasks, calls = sorted(stream.calls), dict(stream.calls)

        async def operation(tx: Tx) -> ClaimAnswer:
            waiting = (await dispatches.waiting_counts(tx)).get(stream.name, 0)
            want = min(_BATCH, stream.window - waiting)
            if want <= 0:
                return ClaimAnswer([], 0)
            request = ClaimRequest(self.instance, tasks, want, micros(self._settings.lease), stream.cursor)
            return await dispatch(tx, self._store.lanes, request, calls)

        return await self._store.write(operation)

    # dispatched → in Redis

    async def _send(self) -> float:
        await self._prepare()
        epoch = await self._present_epoch()
        rows = await self._store.read(lambda tx: dispatches.unsent(tx, _BATCH))
        if not rows:
            return _EPOCH_SECONDS
        await self._wire.publish(
            [(row.stream, row.wire_id, row.fence, msgspec.json.decode(row.body, type=dict[str, str])) for row in rows],
            self._store.incarnation,
        )
        await self._store.write(lambda tx: dispatches.mark_sent(tx, [row.n for row in rows], epoch))
        return AGAIN if len(rows) == _BATCH else _EPOCH_SECONDS

    async def _prepare(self) -> None:
        names = frozenset(self.streams())
        if names - self._prepared:
            await self._wire.prepare(sorted(names))
            self._prepared = names

    async def _present_epoch(self) -> str:
        """Return the epoch; if it is another one, or the first that is seen here, offer Redis all requests again."""
        now = self._clock.monotonic()
        if now >= self._epoch_until:
            epoch = await self._wire_epoch()
            if epoch != self._epoch:
                await self._wire.prepare(sorted(self.streams()))
                epoch = await self._wire_epoch()
                await self._store.write(lambda tx: dispatches.send_again(tx, epoch))
                self._epoch = epoch
            self._epoch_until = now + _EPOCH_SECONDS
        return self._epoch

    async def _wire_epoch(self) -> str:
        """The present life of both ends: a restored database may believe sent what was done with long ago."""
        return f"{self._store.incarnation}/{await self._wire.epoch()}"

    # replies → database

    async def _receive(self) -> float:
        streams = self.streams()
        if not streams:
            return self._settings.poll
        await self._prepare()
        freed = await self._replies.run_once(streams, self.instance)
        if freed:
            self.dispatch.wake()
            self.clear.wake()
        return AGAIN

    # over → cleared away

    async def _clear(self) -> float:
        rows = await self._store.read(lambda tx: dispatches.closing(tx, _BATCH))
        if not rows:
            return _CLOSE_SECONDS if self.streams() else self._settings.poll
        grace = micros(time_limits(self._settings).grace)
        late = [row.job for row in rows if row.running and (row.stop_requested_at or row.now) + grace <= row.now]
        if late:
            # Whether or not Redis can be reached: a cancel is final after the grace time.
            await self._store.write(lambda tx: end_silent(tx, self._store.lanes, late))
        waiting = {row.n: (row.stop_requested_at or row.now) + grace for row in rows if row.running}
        over = [row for row in rows if not row.running]
        try:
            await self._wire.close_requests(
                [(row.stream, row.wire_id, row.fence) for row in rows if row.stop],
                [(row.stream, row.wire_id) for row in over if row.latest],
            )
        except WireDownError:
            return _CLOSE_SECONDS
        if waiting:
            await self._store.write(lambda tx: dispatches.put_off(tx, waiting))
        if over:
            await self._store.write(lambda tx: dispatches.drop_dispatches(tx, [row.n for row in over]))
        return AGAIN if len(rows) == _BATCH else min(_CLOSE_SECONDS, LONGEST_PAUSE)

    # The streams themselves

    async def _maintain(self) -> float:
        await self._prepare()
        streams = self.streams()
        if streams:
            await self._replies.take_over(streams, self.instance, self.take_over_ms)
        for name in streams:
            seen = await self._wire.look(name)
            await self._wire.trim(name)
            before, until = self._written.get(name, ((-1, -1), 0.0))
            if tuple(seen) != before or self._clock.monotonic() >= until:
                await self._store.write(
                    lambda tx, name=name, seen=seen: dispatches.write_status(tx, name, *seen)  # type: ignore[misc]
                )
                self._written[name] = (seen.workers, seen.deadletters), self._clock.monotonic() + _STATUS_SECONDS
        return _CHECK_SECONDS
