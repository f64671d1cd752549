"""Connections of simulated processes to a real SQLite file, with faults at every statement and commit."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from hanbeon.store.database.sqlite_thread import ConnectionThread, SqliteHost
from hanbeon.testing.simulation.disk import VFS
from hanbeon.testing.simulation.plan import FaultKind, Moment, Refusal
from hanbeon.testing.simulation.threads import SimulatedThread, in_thread, leave, pause
from hanbeon.testing.simulation.world import Node, World, current_node

_ERRORS = {
    Refusal.BUSY: apsw.BusyError,
    Refusal.FULL: apsw.FullError,
    Refusal.READONLY: apsw.ReadOnlyError,
    Refusal.IO: apsw.IOError,
}
_READS = ("SELECT", "WITH ")
_UNTOUCHED = ("ROLLBACK", "PRAGMA")
_SQLITES_PAGES = 1_000
_CHECKPOINT_PAGES = 40
"""Far fewer where the machine may fail: a power cut shall come across checkpoints, too."""


class SimulatedHost(SqliteHost):
    """Threads and connections in virtual time."""

    def __init__(self, world: World) -> None:
        self._world = world

    def thread(self, name: str) -> ConnectionThread:
        return SimulatedThread(name)

    def connect(self, path: Path) -> apsw.Connection:
        if self._world.disk is None:
            return SimulatedConnection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        return SimulatedConnection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=VFS)

    def monotonic(self) -> float:
        return self._world.now

    def sleep(self, seconds: float) -> None:
        pause(seconds)


class SimulatedConnection(apsw.Connection):
    """A real connection. Others may run before each statement, and faults strike there."""

    def __init__(self, *args: Any, **options: Any) -> None:
        node = current_node.get()
        assert node is not None
        self.node: Node = node
        self._wait: Callable[[int], bool] | None = None
        self._patience = 0.0
        super().__init__(*args, **options)
        self._pages = 0
        self.set_wal_hook(self._note_pages)
        self.create_scalar_function("simulated_node", lambda *_: node.name, 0)
        node.connections.append(self)

    # Never SQLite's own ways to wait: nobody could run meanwhile.

    def set_busy_timeout(self, milliseconds: int) -> None:
        super().set_busy_timeout(0)
        self._patience = milliseconds / 1000

    def set_busy_handler(self, callable: Callable[[int], bool] | None) -> None:
        self._wait = callable

    @property
    def is_writing(self) -> bool:
        """True if it holds the write lock."""
        return self.txn_state("main") == apsw.SQLITE_TXN_WRITE

    def close_by_system(self) -> None:
        # As the system does: without the checkpoint of the last connection that is closed in order.
        self.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        super().close(True)

    def close(self, force: bool = False) -> None:
        if self in self.node.connections:
            self.node.connections.remove(self)
        # SQLite ignores errors of the checkpoint in which the last connection ends; apsw would report them.
        ignored = () if self.node.world.disk is None else (apsw.FullError, apsw.IOError)
        with contextlib.suppress(*ignored):
            super().close(force)
        self._end_without_power()

    def execute(self, statements: str, bindings: Any = None, **options: Any) -> apsw.Cursor:
        if not in_thread():
            return super().execute(statements, bindings, **options)
        self.node.world.statements += 1
        text = statements.lstrip()[:9].upper()
        self._let_others_run(always=text.startswith(("COMMIT", "BEGIN")))
        if text == "BEGIN IMM":
            return self._begin(statements)
        if text.startswith("COMMIT"):
            return self._commit(statements)
        if not text.startswith(_UNTOUCHED):
            self._strike(Moment.STATEMENT)
            self._refuse(text)
        try:
            return super().execute(statements, bindings, **options)
        finally:
            self._end_without_power()

    def _end_without_power(self) -> None:
        """End the machine if its power has failed meanwhile, while SQLite was in a call."""
        disk = self.node.world.disk
        if disk is not None and disk.failing is not None:
            fault, disk.failing = disk.failing, None
            self.node.world.strike(self.node, fault)
            leave()

    def _let_others_run(self, *, always: bool) -> None:
        draw = self.node.world.draw()
        if always or draw < 0.15:
            pause(draw * 2e-4)

    def _begin(self, statement: str) -> apsw.Cursor:
        self._refuse("BEGIN")
        world, tries = self.node.world, 0
        give_up_at = world.now + self._patience
        while True:
            try:
                return super().execute(statement)
            except apsw.BusyError:
                if self._wait is None and world.now > give_up_at:
                    raise
                if self._wait is not None and not self._wait(tries):
                    raise
                tries += 1
                pause(0.002 + 0.02 * world.draw())

    def _commit(self, statement: str) -> apsw.Cursor:
        self._refuse("COMMIT")
        self._strike(Moment.BEFORE_COMMIT)
        try:
            cursor = super().execute(statement)
        finally:
            self._end_without_power()
        self._checkpoint()
        self.node.world.commits += 1
        self._strike(Moment.AFTER_COMMIT)
        pause(self.node.world.draw() * 3e-4)
        return cursor

    def _note_pages(self, _: apsw.Connection, name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def _checkpoint(self) -> None:
        """Checkpoint as SQLite does after a COMMIT, whose answer does not depend on it.

        With SQLite's own, apsw would report an error of the disk in it as one of the COMMIT.
        """
        most = _SQLITES_PAGES if self.node.world.disk is None else _CHECKPOINT_PAGES
        if self._pages >= most:
            with contextlib.suppress(apsw.Error):
                self.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            self._end_without_power()

    def _refuse(self, text: str) -> None:
        node = self.node
        if node.refused_until <= node.world.now or node.refusal is None:
            return
        # A disk that cannot be reached lets nothing pass; the others let reads pass, and now and then a write.
        if node.refusal is not Refusal.IO and (text.startswith(_READS) or node.world.draw() < 0.2):
            return
        if node.refusal is Refusal.FULL and self.in_transaction:
            super().execute("ROLLBACK")
        raise _ERRORS[node.refusal](f"simulated: {node.refusal}")

    def _strike(self, moment: Moment) -> None:
        while (fault := self.node.due(moment)) is not None:
            if fault.kind is FaultKind.LOSE:
                if moment is not Moment.AFTER_COMMIT and self.in_transaction:
                    super().execute("ROLLBACK")
                raise apsw.IOError(f"simulated: lost {moment}")
            self.node.world.strike(self.node, fault)
            if self.node.is_dead:
                leave()
            pause(0.0)
