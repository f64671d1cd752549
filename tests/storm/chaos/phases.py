"""The phases: each is one function that breaks something while the load of the phase runs, and mends it.

A phase that is added here is in the run, its table, its options and its tests.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
import pytest

from tests.databases.postgres import PostgresServer
from tests.databases.proxy import FaultProxy, fault_proxy
from tests.databases.refusals import POSTGRES, full_disk, locked_file, small_disk
from tests.storm.chaos.site import LEASE, Site
from tests.storm.fleet import WorkerProcess
from tests.storm.moments import direct

Strike = Callable[[Site], Awaitable[str | None]]
"""Returns what the table is to say besides."""
CONNECTIONS = 120
"""Of the private server: few enough for others to take them all."""


class Phase(NamedTuple):
    """A phase, and what it needs: a store of its own choice, a PostgreSQL of the run's own, or a disk to mount."""

    name: str
    strike: Strike
    stores: tuple[str, ...]
    private: bool
    mounts: bool

    @property
    def summary(self) -> str:
        return (self.strike.__doc__ or "").partition("\n")[0]


PHASES: dict[str, Phase] = {}
_BOTH = ("postgres", "sqlite")


def phase(*stores: str, private: bool = False, mounts: bool = False) -> Callable[[Strike], Strike]:
    """Register the function under its name, for these stores; both, if none is named."""

    def register(strike: Strike) -> Strike:
        name = strike.__name__
        PHASES[name] = Phase(name, strike, stores or _BOTH, private, mounts)
        return strike

    return register


def phases_for(store: str, names: Sequence[str] = (), *, private: bool = True) -> list[Phase]:
    """Return the phases of these names, or all, that can run on this store, in the order of this file."""
    if store not in _BOTH:
        raise ValueError(f"there is no store {store}; there are {', '.join(_BOTH)}")
    unknown = set(names) - PHASES.keys()
    if unknown:
        raise ValueError(f"there is no phase {', '.join(sorted(unknown))}; there are {', '.join(PHASES)}")
    return [
        each
        for each in PHASES.values()
        if (not names or each.name in names)
        and store in each.stores
        and (private or not each.private)
        and (not each.mounts or _can_mount())
    ]


def _can_mount() -> bool:
    try:
        with small_disk(1):
            return True
    except pytest.skip.Exception:
        return False


# Instances


@phase()
async def kill(site: Site) -> None:
    """SIGKILL of one process."""
    await site.load.until(site.rng.uniform(0.1, 0.6))
    await site.kill_one()


@phase()
async def kills(site: Site) -> None:
    """SIGKILL of a random process every few seconds."""
    while True:
        await site.kill_one()
        if not await site.load.lasts(site.rng.uniform(1.5, 4.0)):
            return


@phase()
async def freeze(site: Site) -> None:
    """SIGSTOP of instances for longer than their lease, then SIGCONT; the clock of one stands still meanwhile."""
    async with _another_instance(site, clock="paused") as paused:
        for share in (0.1, 0.5):
            await site.load.until(share * site.rng.uniform(0.8, 1.2))
            frozen = [paused, site.rng.choice([each for each in site.workers.at_work if each is not paused])]
            paused.freeze()
            while not await site.writes(paused):
                # It would hold no transaction open. A moment later it may.
                paused.thaw()
                if not await site.load.lasts(site.rng.uniform(0.01, 0.1)):
                    return
                paused.freeze()
            for worker in frozen:
                worker.freeze()
                site.faults += 1
                site.has_gone(worker)
            await asyncio.sleep(LEASE * site.rng.uniform(1.5, 2.0))
            for worker in frozen:
                worker.thaw()


@contextlib.asynccontextmanager
async def _another_instance(site: Site, **settings: Any) -> AsyncIterator[WorkerProcess]:
    """One more instance for the block, with other settings, which is killed at its end."""
    worker = site.workers.start(settings=site.settings | settings)
    await site.workers.ready()
    yield worker
    site.workers.kill(worker)
    site.has_gone(worker)


@phase()
async def roll(site: Site) -> None:
    """SIGTERM of each instance, one after the other, as a deployment does."""
    for number in range(len(site.workers.at_work)):
        await site.load.until(0.2 * number)
        site.faults += 1
        await site.workers.roll_one(site.rng)


# PostgreSQL


@phase("postgres", private=True)
async def restart(site: Site) -> None:
    """Fast restarts of PostgreSQL."""
    await _restarts(site, graceful=True)


@phase("postgres", private=True)
async def crash(site: Site) -> None:
    """SIGKILL of the postmaster and all its processes."""
    await _restarts(site, graceful=False)


async def _restarts(site: Site, *, graceful: bool) -> None:
    server = _private(site)
    for share in (0.2, 0.5):
        await site.load.until(share * site.rng.uniform(0.8, 1.2))
        site.faults += 1
        await asyncio.to_thread(server.down, graceful=graceful)
        await asyncio.sleep(site.rng.uniform(0.0, 2.0))
        await asyncio.to_thread(server.up)


@phase("postgres")
async def terminate(site: Site) -> None:
    """pg_terminate_backend of random sessions."""
    others = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    while True:
        async with direct(site.url) as connection:
            pids = sorted(row["pid"] for row in await connection.fetch(others))
            for pid in site.rng.sample(pids, k=min(len(pids), site.rng.randint(1, 3))):
                site.faults += 1
                await connection.execute("SELECT pg_terminate_backend($1)", pid)
        if not await site.load.lasts(site.rng.uniform(0.1, 0.6)):
            return


@phase("postgres", private=True)
async def connections(site: Site) -> str:
    """All connections of the server taken by others; what the instances get again is ended."""
    await site.load.until(site.rng.uniform(0.1, 0.4))
    async with contextlib.AsyncExitStack() as taken:
        others = await taken.enter_async_context(direct(site.url))
        own = {await others.fetchval("SELECT pg_backend_pid()")}

        async def take() -> bool:
            try:
                connection = await taken.enter_async_context(direct(site.url))
                own.add(await connection.fetchval("SELECT pg_backend_pid()"))
            except asyncpg.TooManyConnectionsError:
                return False
            return True

        site.faults += 1
        ends_at = asyncio.get_running_loop().time() + site.rng.uniform(3.0, 8.0)
        while asyncio.get_running_loop().time() < ends_at:
            if not all(await asyncio.gather(*(take() for _ in range(_AT_ONCE)))):
                await others.fetch(_TERMINATE_OTHERS, list(own))
        return f"{len(own)} of {CONNECTIONS} taken"


_AT_ONCE = 20
_TERMINATE_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> ALL($1::int[])
"""


@phase("postgres")
async def refuse(site: Site) -> None:
    """A standby's refusal of writes, then statements that time out because a table is locked."""
    for name, share in (("read_only", 0.2), ("statements_time_out", 0.5)):
        await site.load.until(share * site.rng.uniform(0.8, 1.2))
        site.faults += 1
        async with POSTGRES[name](site.url):
            await asyncio.sleep(site.rng.uniform(1.0, 3.0))


@phase("postgres")
async def snapshot(site: Site) -> None:
    """A transaction that is idle with a snapshot for as long as the load lasts."""
    async with direct(site.url) as connection, connection.transaction(isolation="repeatable_read"):
        await connection.fetchval("SELECT count(*) FROM hanbeon.job")
        site.faults += 1
        await site.load.over.wait()


# Redis


@phase()
async def redis(site: Site) -> None:
    """Redis killed and restarted empty."""
    for share in (0.2, 0.6):
        await site.load.until(share * site.rng.uniform(0.8, 1.2))
        site.faults += 1
        await asyncio.to_thread(site.valkey.kill)
        await asyncio.sleep(site.rng.uniform(0.0, 2.0))
        await asyncio.to_thread(site.valkey.start)


# Network: half of the instances reach the database through a proxy.


@phase("postgres")
async def cut(site: Site) -> None:
    """Network cut off for longer than the lease, and back: delivered late, reset, or with connections forgotten."""
    async with _behind_a_proxy(site) as (proxy, workers):
        await site.load.until(site.rng.uniform(0.2, 0.5))
        proxy.silence()
        site.faults += 1
        for worker in workers:
            site.has_gone(worker)
        await asyncio.sleep(LEASE * site.rng.uniform(1.2, 1.8))
        heal = site.rng.choice((proxy.heal, partial(_reset, proxy), proxy.strand))
        heal()


@phase("postgres")
async def delay(site: Site) -> None:
    """Every message between some instances and the database late by up to 0.2 s."""
    async with _behind_a_proxy(site) as (proxy, _):
        while True:
            proxy.delay = site.rng.uniform(0.01, 0.2)
            site.faults += 1
            if not await site.load.lasts(site.rng.uniform(0.5, 2.0)):
                break
        proxy.delay = 0.0


def _reset(proxy: FaultProxy) -> None:
    proxy.cut()
    proxy.heal()


@contextlib.asynccontextmanager
async def _behind_a_proxy(site: Site) -> AsyncIterator[tuple[FaultProxy, list[WorkerProcess]]]:
    """Two more instances for the block, which are killed at its end."""
    async with fault_proxy(site.url) as proxy:
        workers = [site.workers.start(url=proxy.url) for _ in range(2)]
        await site.workers.ready()
        try:
            yield proxy, workers
            await site.load.over.wait()
        finally:
            for worker in workers:
                site.workers.kill(worker)
                site.has_gone(worker)


# Disks and files


@phase(private=True, mounts=True)
async def disk_full(site: Site) -> str:
    """ENOSPC from a small file system: of the SQLite file, of PostgreSQL's table of events."""
    await site.load.until(site.rng.uniform(0.1, 0.3))
    if site.disk is not None:
        return await _fill(site, site.disk)
    async with direct(site.url) as connection:
        size: int = await connection.fetchval("SELECT pg_table_size('hanbeon.event_batch')")
        with small_disk(_ROOM_MEGABYTES + 2 * size // 1_000_000) as folder:
            await connection.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
            await connection.execute("ALTER TABLE hanbeon.event_batch SET TABLESPACE small")
            try:
                return await _fill(site, folder)
            finally:
                await connection.execute("ALTER TABLE hanbeon.event_batch SET TABLESPACE pg_default")
                # The files of a table that was moved away are deleted by the next checkpoint.
                await connection.execute("CHECKPOINT")
                await connection.execute("DROP TABLESPACE small")


async def _fill(site: Site, disk: Path) -> str:
    """Fill the disk twice, until an instance notices and a moment longer."""
    before = site.workers.noticed
    for _ in range(2):
        noticed = site.workers.noticed
        async with full_disk(disk)(site.url):
            site.faults += 1
            while site.workers.noticed == noticed and await site.load.lasts(0.1):
                pass
            await asyncio.sleep(site.rng.uniform(0.5, 2.0))
        await site.load.lasts(1.0)
    return f"noticed {site.workers.noticed - before} times"


_ROOM_MEGABYTES = 64


@phase("sqlite")
async def locked(site: Site) -> None:
    """Another connection holds the only write lock of the file for seconds."""
    for share in (0.2, 0.5):
        await site.load.until(share * site.rng.uniform(0.8, 1.2))
        async with locked_file(site.url):
            site.faults += 1
            await asyncio.sleep(site.rng.uniform(1.0, 4.0))


# Load


@phase()
async def retry_storm(site: Site) -> None:
    """A third as many jobs again as the load has, which all fail several times, at once."""
    await site.load.until(site.rng.uniform(0.1, 0.4))
    site.faults += 1
    await site.load.more(site.load.count // 3, {"flaky": 1})


@phase()
async def starvation(site: Site) -> str:
    """One queue flooded with as many jobs as the load has."""
    since = await site.last_seq()
    site.faults += 1
    await site.load.more(site.load.count, {"quick": 1}, queue="flood")
    await site.load.over.wait()
    waits = {flooded: await site.waits(since, flooded=flooded) for flooded in (True, False)}
    return f"median wait {waits[False]:.2f} s, of the flood {waits[True]:.2f} s"


@phase()
async def overload(site: Site) -> str:
    """Jobs half as fast again as the load of the last phase was done."""
    rate = 1.5 * site.pace
    site.load.backlog, site.load.rate = math.inf, rate
    site.faults += 1
    return f"{rate:.0f} jobs/s"


@phase()
async def burst(site: Site) -> None:
    """All jobs of the load at once."""
    site.load.backlog = math.inf
    site.faults += 1


# The clock of the database, and that of an instance of its own, which jumps by hours with each reading. The last,
# because the clock stays ahead, and because an audit compares by it: where it was set back, rows seem to overlap.


@phase("postgres")
async def clock(site: Site) -> None:
    """The database's clock set ahead every few seconds, by up to twice the lease."""
    offset = 0.0
    async with _another_instance(site, clock="jumping"), direct(site.url) as connection:
        while True:
            site.faults += 1
            site.clock = "ahead"
            offset += site.rng.uniform(0.1, 2 * LEASE)
            await connection.execute(_CLOCK.format(offset=round(offset * 1e6)))
            if not await site.load.lasts(site.rng.uniform(0.5, 3.0)):
                return


@phase("postgres")
async def clock_back(site: Site) -> None:
    """The database's clock set ahead and back by up to half a minute."""
    async with _another_instance(site, clock="jumping"), direct(site.url) as connection:
        while True:
            site.faults += 1
            site.clock = "back"
            await connection.execute(_CLOCK.format(offset=round(site.rng.uniform(0.0, 30.0) * 1e6)))
            if not await site.load.lasts(site.rng.uniform(0.5, 3.0)):
                return


# As the server's clock would have it; the test kit uses the same seam.
_CLOCK = """
CREATE OR REPLACE FUNCTION hanbeon.now() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
AS 'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + {offset}'
"""


def _private(site: Site) -> PostgresServer:
    assert site.postgres is not None
    return site.postgres
