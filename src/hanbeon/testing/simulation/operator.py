"""An operator of the simulated machine: backups, restores, and a new incarnation while processes run."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hanbeon.errors import DatabaseUnavailable
from hanbeon.service import backup
from hanbeon.store.backends import open_store
from hanbeon.store.store import Store
from hanbeon.surfaces.store_parts import add_surfaces
from hanbeon.testing.simulation.plan import CLIENT, Fault
from hanbeon.testing.simulation.world import Node, SimulatedClock

if TYPE_CHECKING:
    from hanbeon.testing.simulation.simulation import Simulation

_PAUSE_SECONDS = 0.5


class Operator:
    """Does what the commands do, in processes of its own."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._url = simulation.database.url
        self._copy: Path | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._commands = 0
        self._restoring: Node | None = None

    async def is_done(self) -> None:
        """Wait for the commands that outlast the faults. One that died with the machine has no end."""
        dead = {task for node in self._simulation.world.dead for task in node.kept}
        if tasks := [task for task in self._tasks if task not in dead]:
            await asyncio.wait(tasks)

    def back_up(self) -> None:
        if self._simulation.is_healed:
            return
        self._simulation.scenario.backed_up(self._simulation)
        file = backup.sqlite_file(self._url)
        assert file is not None, "backups are simulated on SQLite alone"
        target = file.with_name(f"backup-{self._commands}.db")
        self._begin("backs up", self._back_up(target))

    async def _back_up(self, target: Path) -> None:
        try:
            await backup.back_up(self._url, target)
        except DatabaseUnavailable as error:
            self._simulation.world.note(None, f"no backup: {error}")
        else:
            self._copy = target

    def restore(self, fault: Fault) -> None:
        """End all processes, and restore the last backup. They start when it is done."""
        world = self._simulation.world
        if self._copy is None:
            return
        world.kill_all(fault)
        if world.disk is not None:
            world.disk.all_synced()
        self._restoring = self._begin("restores", self._restore(self._copy))

    @property
    def restores(self) -> bool:
        return self._restoring is not None and not self._restoring.is_dead

    async def _restore(self, copy: Path) -> None:
        while True:
            try:
                await backup.restore(self._url, copy, self._store)
                break
            except DatabaseUnavailable as error:
                self._simulation.world.note(None, f"no restore: {error}")
                await asyncio.sleep(_PAUSE_SECONDS)
        self._forget()
        self._simulation.world.renewals.append(self._simulation.world.now)
        self._restoring = None

    def _forget(self) -> None:
        """Forget bodies of attempts that are undone, whose fences will be used again."""
        world = self._simulation.world
        fences = dict(self._simulation.evidence.rows("SELECT id, fence FROM hanbeon_jobs"))
        world.bodies = [body for body in world.bodies if body.fence <= fences.get(body.job, -1)]
        self._simulation.scenario.restored(self._simulation)

    def renew(self) -> None:
        self._begin("begins an incarnation", self._renew())

    async def _renew(self) -> None:
        world = self._simulation.world
        while True:
            try:
                await backup.after_restore(self._store(self._url))
                break
            except DatabaseUnavailable as error:
                world.note(None, f"no new incarnation: {error}")
                await asyncio.sleep(_PAUSE_SECONDS)
        world.renewals.append(world.now)
        world.kill(self._simulation.client)  # A process that is told so ends, and another one takes its place.

    def _store(self, url: str) -> Store:
        world = self._simulation.world
        host = self._simulation.database.host
        clock = SimulatedClock(world)
        store = open_store(url, clock, sqlite_host=host.sqlite, sqlite_notifier=host.sqlite_notifier)
        return add_surfaces(store)

    def _begin(self, what: str, work: Coroutine[Any, Any, None]) -> Node:
        self._commands += 1
        node = self._simulation.world.new_node(f"operator.{self._commands}", CLIENT)
        self._simulation.world.note(node, what)
        self._tasks.append(self._simulation.spawn(node, self._run(node, work)))
        return node

    async def _run(self, node: Node, work: Coroutine[Any, Any, None]) -> None:
        await work
        self._simulation.world.nodes.remove(node)  # Not killed: its end is in order, and leaves nothing open.
