"""`hanbeon doctor`"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
import typer

from hanbeon.cli.options import AppName, Database, Json

if TYPE_CHECKING:
    from hanbeon.app import App

_WAKE_SECONDS = 3.0
_CLOCK_SECONDS = 2.0
"""A host whose clock is farther from the database's misleads whoever reads its logs beside the job's."""


class Check(msgspec.Struct, frozen=True):
    """One aspect of an installation. `status`: `ok`, `warning` (it works, but not as well as it could) or `broken`."""

    name: str
    status: str
    text: str


def doctor(app: AppName = None, database: Database = None, json: Json = False) -> None:
    """Check an installation as it is now: settings, database, writes, wake-ups, clock, workers, and work that waits.

    The exit code is not 0 if something is broken. Nothing is changed: the write that is tried writes what was there.
    """
    from hanbeon.cli import exits
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_json, print_table

    found = run(_checks(app, database))
    if json:
        print_json({"ok": not _is_broken(found), "checks": found})
    else:
        print_table(("check", "status", "seen"), [(each.name, each.status, each.text) for each in found])
    if _is_broken(found):
        raise typer.Exit(exits.FAILED)


def _is_broken(found: Sequence[Check]) -> bool:
    return any(each.status == "broken" for each in found)


async def _checks(target: str | None, database: str | None) -> list[Check]:
    from hanbeon.cli.app_loader import app_or_empty, refuse_missing_file
    from hanbeon.cli.config_check import file_here, problems
    from hanbeon.errors import HanbeonError
    from hanbeon.settings import masked

    refused = await problems(target, database)
    found = [Check("settings", "broken", str(each)) for each in refused] or [Check("settings", "ok", file_here())]
    try:
        app = app_or_empty(target, database)
        refuse_missing_file(app.settings.database_url)
        url = masked(app.settings.database_url)
        async with app:
            found.append(Check("database", "ok", f"{url}, at the schema of this release"))
            for name, look in _LOOKS.items():
                found.append(await _looked(name, look, app))
    except HanbeonError as error:
        # The settings' checks open the database, too.
        if str(error) not in [each.text for each in found]:
            found.append(Check("database", "broken", str(error)))
    return found


async def _looked(name: str, look: Callable[[App], Awaitable[tuple[str, str]]], app: App) -> Check:
    from hanbeon.errors import HanbeonError

    try:
        return Check(name, *await look(app))
    except HanbeonError as error:
        return Check(name, "broken", str(error))


async def _writes(app: App) -> tuple[str, str]:
    began = time.monotonic()
    await app.store.probe_write()
    return "ok", f"a transaction was committed in {(time.monotonic() - began) * 1000:.0f} ms"


async def _wake_ups(app: App) -> tuple[str, str]:
    """Send a hint from one opened store to another, as from a process to the next."""
    from hanbeon.store.tx import HINTS

    began, arrived = 0.0, asyncio.Event()

    def received(hints: set[str]) -> None:
        # The first call says that it listens.
        if began:
            arrived.set()
        else:
            listening.set()

    listening = asyncio.Event()
    async with _listener(app, received):
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_WAKE_SECONDS):
                await listening.wait()
                began = time.monotonic()
                app.store.notifier.send(set(HINTS))
                await arrived.wait()
    if arrived.is_set():
        return "ok", f"a hint reached another connection after {(time.monotonic() - began) * 1000:.0f} ms"
    how = "set HANBEON_LISTEN_URL to the server's own address if a pooler is in between"
    if app.settings.database_url.startswith("sqlite"):
        how = "the folder of the file must be writable, and belong to this user"
    return "warning", f"no hint arrived, so new work is found by polling every {app.settings.poll:g} s; {how}"


@contextlib.asynccontextmanager
async def _listener(app: App, received: Callable[[set[str]], None]) -> AsyncIterator[None]:
    from hanbeon.store.backends import open_store
    from hanbeon.surfaces.store_parts import add_surfaces

    other = add_surfaces(open_store(app.settings.database_url, app.clock, listen_url=app.settings.listen_url))
    await other.open()
    task = asyncio.get_running_loop().create_task(other.notifier.listen(received))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        await other.close()


async def _clock(app: App) -> tuple[str, str]:
    before = time.time()
    (row,) = await app.store.read(lambda tx: tx.fetch("now"))
    ahead = row["now"] / 1_000_000 - (before + time.time()) / 2
    where = f"the zone is {app.settings.zone.key}"
    if abs(ahead) > _CLOCK_SECONDS:
        side = "ahead of" if ahead > 0 else "behind"
        return "warning", f"the database's clock, which decides, is {abs(ahead):.1f} s {side} this host's; {where}"
    return "ok", f"this host's and the database's agree; {where}"


async def _redis(app: App) -> tuple[str, str]:
    if app.settings.redis_url is None:
        return "ok", "not used: `redis_url` is not set"
    from hanbeon.engine.stream.wire import Wire

    wire = Wire(app.settings.redis_url, "doctor")
    try:
        async with wire.commands() as redis:
            version = (await redis.info("server"))["redis_version"]
    finally:
        await wire.close()
    return "ok", f"version {version} responds"


async def _workers(app: App) -> tuple[str, str]:
    alive = [each for each in (await app.engine.instances()).items if each.alive]
    served = {task for each in alive for task in each.tasks}
    unserved = sorted(set(app.tasks.by_name) - served)
    if not alive:
        return "warning", "no worker is alive; `hanbeon worker` starts one"
    slots = sum(each.capacity for each in alive)
    text = f"{len(alive)} alive with {slots} slots"
    if unserved:
        return "warning", f"{text}; none of them has registered {', '.join(unserved)}: start one with this App or file"
    return "ok", text


async def _waiting(app: App) -> tuple[str, str]:
    found = await app.engine.overview()
    paused = [each.name for each in (await app.engine.queues()).items if each.paused]
    notes = [f"queue {each.name}: ready jobs wait for {each.oldest_ready:.0f} s" for each in found.late]
    notes += [f"queue {name} is paused" for name in paused]
    if notes:
        return "warning", f"{'; '.join(notes)}; `hanbeon explain` says why a job waits"
    return "ok", "no ready job has waited for more than a minute, and no queue is paused"


_LOOKS: dict[str, Callable[[App], Awaitable[tuple[str, str]]]] = {
    "writes": _writes,
    "wake-ups": _wake_ups,
    "clock": _clock,
    "Redis": _redis,
    "workers": _workers,
    "waiting": _waiting,
}
