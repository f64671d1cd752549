"""Reads the replies of stream workers and applies them, each batch in one transaction, before it acknowledges them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hanbeon.chance import chance
from hanbeon.clock import micros
from hanbeon.domain.dead_letters import UNKNOWN_JOB
from hanbeon.domain.outcome import Outcome, Raised
from hanbeon.engine.stream.messages import Message, UnreadableError, fence_of, read_message
from hanbeon.engine.stream.wire import Dead, Entry, Wire
from hanbeon.errors import DatabaseUnavailable
from hanbeon.executors.executor import raised
from hanbeon.logs import get_logger
from hanbeon.settings import Settings
from hanbeon.store.operations.complete import Completed
from hanbeon.store.operations.stream import ONLY_FENCE, Reply, Verdict, apply_replies, resolve
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx
from hanbeon.tasks.stream_call import Reply as WorkerReply
from hanbeon.tasks.stream_call import StreamCall

_log = get_logger("hanbeon.engine")


class _Received(NamedTuple):
    entry: Entry
    message: Message
    fence: int | None
    outcome: Outcome | None


class ReplyReader:
    """Delivers each reply at least once to the database, where once is enough."""

    def __init__(self, store: Store, settings: Settings, wire: Wire) -> None:
        self._store, self._settings, self._wire = store, settings, wire
        self._behind = True

    async def run_once(self, streams: Mapping[str, Any], instance: int) -> bool:
        """Wait a moment for replies; return True if attempts have ended.

        After an error, what was delivered and not acknowledged comes first.
        """
        behind = self._behind
        entries = await self._wire.read(streams, pending=behind)
        self._behind = True
        ended = await self._apply(entries, streams, instance) if entries else False
        self._behind = behind and bool(entries)
        return ended

    async def take_over(self, streams: Mapping[str, Any], instance: int, idle_ms: int) -> None:
        """Apply what a server that is gone has read."""
        entries = await self._wire.take_over(streams, idle_ms)
        if entries:
            _log.info("replies_taken_over", count=len(entries))
            await self._apply(entries, streams, instance)

    async def _apply(self, entries: Sequence[Entry], streams: Mapping[str, Any], instance: int) -> bool:
        ended = False
        # Progress first: results end the attempts that it is about.
        for kind in ("progress", "results"):
            for name, stream in streams.items():
                batch = [entry for entry in entries if (entry.kind, entry.name) == (kind, name)]
                if batch:
                    ended = await self._apply_of(batch, stream.calls, instance) or ended
        return ended

    async def _apply_of(self, batch: Sequence[Entry], calls: Mapping[str, StreamCall], instance: int) -> bool:
        call = next(iter(calls.values()))
        received, dead = _read(batch, call, self._settings.max_payload_bytes)
        ended: list[Completed] = []
        if received:
            try:
                more, ended = await self._store.write(lambda tx: self._write(tx, received, calls, instance))
            except DatabaseUnavailable:
                raise
            except Exception as error:
                if len(batch) > 1:
                    # One of them cannot be applied, for whatever reason: it must not keep the others from it.
                    return any([await self._apply_of([entry], calls, instance) for entry in batch])
                _log.exception("reply_failed", stream=batch[0].key, entry=batch[0].id)
                more, ended = await self._write_failed(received[0], error, calls, instance)
            dead += more
        rejected = {id(each.entry) for each in dead}
        await self._wire.settle([entry for entry in batch if id(entry) not in rejected], dead)
        for each in dead:
            _log.warning("dead_letter", stream=each.entry.key, entry=each.entry.id, reason=each.reason)
        return bool(ended)

    async def _write_failed(
        self, received: _Received, error: Exception, calls: Mapping[str, StreamCall], instance: int
    ) -> tuple[list[Dead], list[Completed]]:
        """Dead-letter a reply that cannot be applied. Was it a result, its attempt fails: it would be lost else."""
        dead = Dead(received.entry, f"{type(error).__name__}: {error}")
        if received.outcome is None:
            return [dead], []
        instead = received._replace(outcome=raised(error))
        try:
            _, ended = await self._store.write(lambda tx: self._write(tx, [instead], calls, instance))
        except DatabaseUnavailable:
            raise
        except Exception:
            _log.exception("reply_failed", stream=received.entry.key, entry=received.entry.id)
            return [dead], []
        return [dead], ended

    async def _write(
        self, tx: Tx, received: Sequence[_Received], calls: Mapping[str, StreamCall], instance: int
    ) -> tuple[list[Dead], list[Completed]]:
        """Apply messages of one stream, whose tasks may differ in how they name and judge them."""
        dead: list[Dead] = []
        call = next(iter(calls.values()))
        rows = await resolve(tx, call.ids_statement, {each.message.wire_id for each in received})
        known = [each for each in received if each.message.wire_id in rows]
        dead += [Dead(each.entry, UNKNOWN_JOB) for each in received if each.message.wire_id not in rows]
        if not known:
            return dead, []
        replies = [_reply_to(rows[each.message.wire_id], each, call) for each in known]
        leases = {task: None if each.lease is None else micros(each.lease) for task, each in calls.items()}
        verdicts, ended = await apply_replies(tx, self._store.lanes, replies, leases, instance, chance.random())
        for each, reply, verdict in zip(known, replies, verdicts, strict=True):
            if verdict is Verdict.UNKNOWN:
                dead.append(Dead(each.entry, UNKNOWN_JOB))
            elif (
                # Repeated: this server, or another, may have died between the end of the job and the letter.
                verdict in (Verdict.APPLIED, Verdict.REPEATED)
                and isinstance(reply.outcome, Raised)
                and reply.outcome.failure_type in call.dead_types
            ):
                dead.append(Dead(each.entry, reply.outcome.failure_type))
        return dead, ended


def _reply_to(row: Mapping[str, Any], received: _Received, call: StreamCall) -> Reply:
    """Return what a message asks of its job, which is known by now, and with it what the attempt was given."""
    outcome, reply = received.outcome, received.message.reply
    if outcome is not None and reply is not None:
        path = call.output_path(row, ONLY_FENCE if received.fence is None else received.fence)
        outcome = call.of_attempt(outcome, reply, path)
    return Reply(row["id"], received.fence, received.message.progress, outcome)


def _read(batch: Sequence[Entry], call: StreamCall, max_bytes: int) -> tuple[list[_Received], list[Dead]]:
    """Read messages, and judge results outside of the transaction: that may look at files."""
    received, dead = [], []
    for entry in batch:
        try:
            message = read_message(entry.kind, entry.fields)
            outcome = None if message.reply is None else _outcome(entry, call, message.reply, max_bytes)
            received.append(_Received(entry, message, fence_of(message, call), outcome))
        except UnreadableError as error:
            dead.append(Dead(entry, str(error)))
        except Exception as error:
            _log.exception("reply_failed", stream=entry.key, entry=entry.id)
            dead.append(Dead(entry, f"{type(error).__name__}: {error}"))
    return received, dead


def _outcome(entry: Entry, call: StreamCall, reply: WorkerReply, max_bytes: int) -> Outcome:
    """Judge a result. One that cannot be judged fails its attempt, which nobody would end otherwise."""
    try:
        return call.outcome(reply, max_bytes)
    except Exception as error:
        _log.exception("reply_failed", stream=entry.key, entry=entry.id)
        return raised(error)
