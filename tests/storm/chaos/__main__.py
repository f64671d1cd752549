"""The program of `make chaos`: runs phases on private servers, prints a table and writes it as JSON."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

import msgspec
import psycopg
from rich.console import Console
from rich.table import Table

from hanbeon.surfaces.store_parts import migrate
from tests.databases.installations import select
from tests.databases.postgres import PostgresServer
from tests.databases.refusals import small_disk
from tests.databases.valkey import ValkeyServer
from tests.processes.fork_server import ROOT
from tests.storm.chaos.phases import CONNECTIONS, PHASES, Phase, phases_for
from tests.storm.chaos.run import RECOVERY_SECONDS, Result, run
from tests.storm.chaos.site import Site, site_on

_DISK_MEGABYTES = 1024
_JSON = ROOT / "build" / "chaos.json"
_HEAD = (
    "phase", "store", "jobs", "s", "faults", "lost", "doubled", "verify", "orphans", "p50 s", "p99 s",
    "jobs/s before", "after", "µs/job before", "after", "",
)  # fmt: skip


class Record(msgspec.Struct, frozen=True):
    """A run as it is written down."""

    seed: int
    jobs: int
    instances: int
    began_at: float
    load_average: tuple[float, float, float]
    results: list[Result]


def main(words: Sequence[str]) -> int:
    parser = _parser()
    given = parser.parse_args(words)
    try:
        for store in _words(given.stores):
            phases_for(store, _words(given.phases))
    except ValueError as error:
        parser.error(str(error))
    os.environ.setdefault("PGSSLMODE", "disable")
    # Ended by a limit of time, it must leave no server and no folder behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Its pool says at length that it cannot connect, which is meant here.
    logging.getLogger("asyncpg").setLevel(logging.CRITICAL)
    print(f"seed {given.seed}", flush=True)
    record = Record(given.seed, given.jobs, given.instances, time.time(), os.getloadavg(), [])
    try:
        asyncio.run(_run(given, record))
    finally:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1))
        _show(record)
    return _judge(record.results)


def _parser() -> argparse.ArgumentParser:
    described = "\n".join(f"  {each.name:<12} {each.summary} ({', '.join(each.stores)})" for each in PHASES.values())
    parser = argparse.ArgumentParser(
        prog="make chaos ARGS=…",
        epilog=f"phases:\n{described}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--phases", default="", metavar="A,B", help="only these, in the order below")
    parser.add_argument("--stores", default="postgres,sqlite", metavar="A,B")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000), help="of times and victims")
    parser.add_argument("--jobs", type=int, default=1000, metavar="N", help="of each phase (default: %(default)s)")
    parser.add_argument("--instances", type=int, default=3, metavar="N", help="beside that of the server")
    parser.add_argument("--windows", type=int, default=5, metavar="N", help="of throughput between phases; 0: none")
    parser.add_argument("--json", type=Path, default=_JSON, metavar="FILE")
    return parser


async def _run(given: argparse.Namespace, record: Record) -> None:
    for store in _words(given.stores):
        phases = phases_for(store, _words(given.phases))
        if not phases:
            continue
        async with _site(store, phases, given) as site:
            async for result in run(site, phases, given.jobs, given.windows):
                record.results.append(result)
                sound = "sound" if result.is_sound else "NOT SOUND"
                print(f"{store} {result.phase}: {result.jobs} jobs in {result.seconds:.0f} s, {sound}", flush=True)


@asynccontextmanager
async def _site(store: str, phases: Sequence[Phase], given: argparse.Namespace) -> AsyncIterator[Site]:
    """Start private servers and everything on them, for the block."""
    with tempfile.TemporaryDirectory(prefix="hanbeon-chaos-") as name:
        folder = Path(name)
        valkey = ValkeyServer(folder)
        valkey.start()
        postgres = None
        try:
            if store == "postgres":
                postgres = _durable_postgres()
            on_disk = postgres is None and any(each.mounts for each in phases)
            with small_disk(_DISK_MEGABYTES) if on_disk else nullcontext(folder) as disk:
                url = f"sqlite:///{disk}/hanbeon.db" if postgres is None else postgres.create_database()
                await migrate(url)
                async with site_on(url, valkey, folder, given.seed, given.instances, postgres) as site:
                    site.disk = disk if on_disk else None
                    yield site
        finally:
            valkey.kill()
            if postgres is not None:
                postgres.stop()


def _durable_postgres() -> PostgresServer:
    """Start a server as in production, with so few connections that others can take them all."""
    server = PostgresServer.start(select("newest")[0].bindir)
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET max_connections = {CONNECTIONS}".encode())
    server.restart(graceful=True)
    return server


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def _show(record: Record) -> None:
    console = Console()
    table = Table(title=f"Chaos, seed {record.seed}", title_justify="left")
    for number, head in enumerate(_HEAD):
        table.add_column(head, justify="left" if number < 2 else "right", no_wrap=number < 2)
    for each in record.results:
        table.add_row(
            each.phase, each.store, f"{each.jobs:,}", f"{each.seconds:.0f}", f"{each.faults}", f"{len(each.lost)}",
            f"{len(each.doubled)}", f"{len(each.findings)}", f"{each.orphans}", f"{each.recovery_p50:.1f}",
            f"{each.recovery_p99:.1f}", f"{each.rate_before:.0f}", f"{each.rate_after:.0f}", f"{each.cpu_before:.0f}",
            f"{each.cpu_after:.0f}", each.note,
        )  # fmt: skip
    (console if console.is_terminal else Console(width=170)).print(table)


def _judge(results: Sequence[Result]) -> int:
    """Print what is wrong, and return 1 if anything is. Slowness counts if it is gross, late recovery does not."""
    for each in results:
        for finding in (*each.lost[:20], *each.doubled[:20], *each.findings):
            print(f"{each.store} {each.phase}: {finding}")
        if each.is_slower:
            print(f"{each.store} {each.phase}: the throughput did not come back")
        if each.recovery_p99 > RECOVERY_SECONDS:
            print(f"{each.store} {each.phase}: recovery took more than {RECOVERY_SECONDS} s: {', '.join(each.slowest)}")
    return int(any(not each.is_sound or each.is_slower for each in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
