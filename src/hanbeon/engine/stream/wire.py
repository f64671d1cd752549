"""The wire to stream workers: everything that is written to Redis or read from it, and nothing that decides."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hanbeon.cleanup import cleanup
from hanbeon.errors import RedisUnavailable
from hanbeon.rule import Rule
from hanbeon.stream_worker.dead_letter import dead_letter
from hanbeon.stream_worker.redis_client import flat_entries, redis_client

_MOST = 500
_FIRST = 8
_BYTES = 4 * 1024**2


class ReadPace:
    """Begins with a few entries, and doubles their number while what was read is small."""

    def __init__(self) -> None:
        self.count = _FIRST

    def read(self, size: int) -> None:
        """Note the size of what was read with this count."""
        if size > _BYTES:
            self.count = max(1, self.count * _BYTES // size)
        elif size * 4 <= _BYTES:
            self.count = min(_MOST, self.count * 2)


def size_of(fields: Mapping[str, str] | None) -> int:
    """Return about how many bytes the fields of an entry take."""
    return sum(len(name) + len(value) for name, value in (fields or {}).items())


SERVERS, WORKERS = "hanbeon", "workers"
"""The consumer groups: of the servers on progress and results, of the workers on requests."""
_EPOCH = "hanbeon.epoch"
_BLOCK_SECONDS = 2.0
_GUARD_SECONDS = 86_400
"""How long the guard of a finished job stays, for a relay that slept between reading its request and sending it."""
_CANCEL_SECONDS = 7 * 86_400
_ALIVE_MS = 60_000
# A restored database sends the attempts that it remembers again, under the fences that they had: its guards and
# cancels are those of another life.
_PUBLISH = """
local life, fence = string.match(redis.call('GET', KEYS[2]) or '', '^(.*):(%d+)$')
if life and life ~= ARGV[3] then
  fence = nil
  redis.call('DEL', KEYS[3])
end
if ARGV[2] == '0' and fence and tonumber(fence) >= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[2], ARGV[3] .. ':' .. ARGV[1])
redis.call('XADD', KEYS[1], '*', unpack(ARGV, 4))
return 1
"""
# A consumer with pending entries must stay: they would be gone with it.
_FORGET = """
for _, each in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local facts = {}
  for i = 1, #each, 2 do facts[each[i]] = each[i + 1] end
  if facts['pending'] == 0 and facts['idle'] > tonumber(ARGV[2]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], facts['name'])
  end
end
"""
_FORGET_MS = 3_600_000


class WireDownError(Exception):
    """Redis cannot be reached, or does not do what it is asked. Nothing is lost: it is asked again."""


class Entry(NamedTuple):
    """An entry of a stream. `name` is the stream's, `kind` is `progress` or `results`."""

    name: str
    kind: str
    id: str
    fields: Mapping[str, str]

    @property
    def key(self) -> str:
        return f"{self.name}.{self.kind}"


class Dead(NamedTuple):
    """An entry that is to be moved to the dead letters."""

    entry: Entry
    reason: str


class Seen(NamedTuple):
    """The state of a stream in Redis."""

    workers: int
    deadletters: int


def cancel_key(name: str, wire_id: str) -> str:
    return f"{name}.cancelled:{wire_id}"


def guard_key(name: str, wire_id: str) -> str:
    return f"{name}.sent:{wire_id}"


class Wire:
    """A connection pool to one Redis. Every method may raise WireDownError, and may be repeated."""

    def __init__(self, url: str, consumer: str) -> None:
        self._redis: Any = redis_client(url)
        from redis.exceptions import RedisError, ResponseError

        self._failures: tuple[type[Exception], ...] = (RedisError, OSError, asyncio.TimeoutError)
        self._refused = ResponseError
        # Unique: two workers of one process must not take each other's entries for their own.
        self._consumer = f"{consumer}/{secrets.token_hex(4)}"
        self._pace = ReadPace()
        self._publish = self._redis.register_script(_PUBLISH)
        self._forget = self._redis.register_script(_FORGET)

    @cleanup
    async def close(self) -> None:
        with contextlib.suppress(*self._failures):
            await self._redis.aclose()

    @contextlib.asynccontextmanager
    async def _border(self) -> AsyncIterator[None]:
        try:
            yield
        except self._failures as error:
            raise WireDownError(f"{type(error).__name__}: {error}") from error

    @contextlib.asynccontextmanager
    async def commands(self) -> AsyncIterator[Any]:
        """The client, for what operators ask: raises RedisUnavailable."""
        try:
            async with self._border():
                yield self._redis
        except WireDownError as error:
            raise RedisUnavailable(Rule("redis_unavailable", error=error)) from error

    async def epoch(self) -> str:
        """Return the present life of the data: another one means that some may be lost."""
        async with self._border():
            await self._redis.set(_EPOCH, secrets.token_hex(8), nx=True)
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.get(_EPOCH)
                pipe.info("server")
                epoch, info = await pipe.execute()
                return f"{epoch}/{info.get('run_id', '')}"

    async def prepare(self, names: Iterable[str]) -> None:
        """Create missing streams and groups. If any was missing, what it held may be lost, so another epoch begins."""
        async with self._border():
            missing = False
            for name in names:
                for kind, group in (("requests", WORKERS), ("progress", SERVERS), ("results", SERVERS)):
                    try:
                        await self._redis.xgroup_create(f"{name}.{kind}", group, id="0", mkstream=True)
                        missing = True
                    except self._refused as error:
                        if "BUSYGROUP" not in str(error):
                            raise
            if missing:
                await self._redis.set(_EPOCH, secrets.token_hex(8))

    async def publish(
        self, requests: Sequence[tuple[str, str, int, Mapping[str, str]]], life: str, *, again: bool = False
    ) -> int:
        """Add these requests (stream, jobId, fence, fields), each once per fence; `again`: whatever was sent before.

        `life`: the incarnation of the database that the fences are of.
        """
        async with self._border(), self._redis.pipeline(transaction=False) as pipe:
            for name, wire_id, fence, fields in requests:
                flat = [part for pair in fields.items() for part in pair]
                keys = [f"{name}.requests", guard_key(name, wire_id), cancel_key(name, wire_id)]
                await self._publish(keys=keys, args=[fence, int(again), life, *flat], client=pipe)
            return sum(await pipe.execute())

    async def read(self, names: Iterable[str], *, pending: bool) -> list[Entry]:
        """Wait for replies. `pending`: those that were delivered to this consumer before and not acknowledged."""
        after = "0" if pending else ">"
        keys = {f"{name}.{kind}": after for name in names for kind in ("progress", "results")}
        block = None if pending else round(_BLOCK_SECONDS * 1000)
        async with self._border():
            found = await self._redis.xreadgroup(SERVERS, self._consumer, keys, count=self._pace.count, block=block)
            streams = found.items() if isinstance(found, dict) else found or ()
            return self._paced([entry for key, batch in streams for entry in _entries(key, batch)])

    async def take_over(self, names: Iterable[str], idle_ms: int) -> list[Entry]:
        """Take over replies that another server has read and not acknowledged for so long."""
        found: list[Entry] = []
        async with self._border():
            for key in (f"{name}.{kind}" for name in names for kind in ("progress", "results")):
                answer = await self._redis.xautoclaim(key, SERVERS, self._consumer, idle_ms, count=self._pace.count)
                found += _entries(key, answer[1])
        return self._paced(found)

    def _paced(self, entries: list[Entry]) -> list[Entry]:
        if entries:
            self._pace.read(sum(size_of(entry.fields) for entry in entries))
        return entries

    async def settle(self, entries: Iterable[Entry], dead: Iterable[Dead] = ()) -> None:
        """Acknowledge entries; move the dead ones to the dead letters, in one transaction with that."""
        async with self._border(), self._redis.pipeline(transaction=True) as pipe:
            for entry, reason in dead:
                dead_letter(pipe, entry.name, entry.kind, entry.id, entry.fields, reason)
            by_key: dict[str, list[str]] = {}
            for entry in (*entries, *(each.entry for each in dead)):
                by_key.setdefault(entry.key, []).append(entry.id)
            for key, ids in by_key.items():
                pipe.xack(key, SERVERS, *ids)
            await pipe.execute()

    async def close_requests(self, stops: Iterable[tuple[str, str, int]], over: Iterable[tuple[str, str]]) -> None:
        """Tell workers which attempts (stream, jobId, fence) to stop, and let the guards of finished jobs expire."""
        async with self._border(), self._redis.pipeline(transaction=False) as pipe:
            for name, wire_id, fence in stops:
                pipe.set(cancel_key(name, wire_id), fence, ex=_CANCEL_SECONDS)
            for name, wire_id in over:
                pipe.expire(guard_key(name, wire_id), _GUARD_SECONDS)
            await pipe.execute()

    async def look(self, name: str) -> Seen:
        """Count the workers that read lately, and the dead letters."""
        async with self._border():
            consumers = await self._redis.xinfo_consumers(f"{name}.requests", WORKERS)
            alive = sum(1 for each in consumers if each["idle"] < _ALIVE_MS)
            return Seen(alive, await self._redis.xlen(f"{name}.deadletter"))

    async def trim(self, name: str) -> None:
        """Drop entries that every group has done with, and consumers that are long gone."""
        async with self._border():
            for kind in ("requests", "progress", "results"):
                key = f"{name}.{kind}"
                groups = await self._redis.xinfo_groups(key)
                for group in groups:
                    await self._forget(keys=[key], args=[group["name"], _FORGET_MS])
                done = [await self._done_to(key, group) for group in groups]
                if done:
                    await self._redis.xtrim(key, minid=min(done, key=entry_order), approximate=True)

    async def _done_to(self, key: str, group: Mapping[str, Any]) -> str:
        if not group["pending"]:
            return str(group["last-delivered-id"])
        summary = await self._redis.xpending(key, group["name"])
        return str(summary["min"] or group["last-delivered-id"])


def entry_order(entry_id: str) -> tuple[int, ...]:
    """Return the two numbers of an entry's id."""
    return tuple(int(part) for part in entry_id.split("-"))


def _entries(key: str, batch: Any) -> list[Entry]:
    name, _, kind = key.rpartition(".")
    # An entry that was trimmed while it was pending has no fields any more.
    return [Entry(name, kind, entry_id, fields or {}) for entry_id, fields in flat_entries(batch)]
