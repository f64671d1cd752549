"""The source of a worker's tasks, queues and settings, and its reload: all of it is in force then, or nothing new."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, Protocol

from hanbeon.errors import DatabaseUnavailable, HanbeonError
from hanbeon.logs import get_logger
from hanbeon.store.operations.queues import declare_queues
from hanbeon.store.store import Store

Declared = Mapping[str, Mapping[str, Any]]


class SourceChange(NamedTuple):
    """The contents of a reloaded source. They are in force once `put_in_force` is called, which cannot fail."""

    queues: Declared
    settings: Mapping[str, Any]
    """Those with another value than before."""
    tasks: Mapping[str, list[str]]
    """The names of those that were added, changed and removed."""
    also: tuple[str, ...]
    """Other changes, which need a restart."""
    put_in_force: Callable[[], None]


class TaskSource(Protocol):
    """The interface that `Worker` uses."""

    @property
    def name(self) -> str: ...

    @property
    def queues(self) -> Declared:
        """The limits that it declares, as it was last put in force."""
        ...

    def read(self) -> SourceChange:
        """Read again, in any thread; raises a HanbeonError if it is invalid."""
        ...


_log = get_logger("hanbeon.engine")
_UNTIL_REQUESTED = 86_400.0
RELOADABLE = frozenset({"concurrency", "watch", "shutdown_grace", "retention", "prune_every"})
"""The settings that a running worker can change. The others need a restart."""


class Reloader:
    """`put_in_force` is called with the change, once the database has the queues."""

    def __init__(
        self, source: TaskSource | None, store: Store, put_in_force: Callable[[SourceChange], Awaitable[None]]
    ) -> None:
        self._source, self._store, self._put_in_force = source, store, put_in_force
        self._requested = False

    def request(self) -> None:
        self._requested = True

    async def declare(self) -> None:
        """Put the queues' limits in force where their declaration has changed."""
        source = self._source
        if source is not None:
            for queue in await self._store.write(lambda tx: declare_queues(tx, source.queues)):
                _log.info("queue_declared", queue=queue.name, declared=queue.declared)

    async def run_once(self) -> float:
        if self._requested:
            self._requested = False
            await self._reload()
        return _UNTIL_REQUESTED

    async def _reload(self) -> None:
        if self._source is None:
            _log.warning("reload_ignored", reason="this worker has no hanbeon.toml; restart it to load changed code")
            return
        try:
            change = await asyncio.to_thread(self._source.read)
        except HanbeonError as error:
            _log.error("reload_refused", error=str(error), in_force="unchanged")
            return
        try:
            declared = await self._store.write(lambda tx: declare_queues(tx, change.queues))
            await self._put_in_force(change)
        except (DatabaseUnavailable, TimeoutError):
            self._requested = True
            raise
        waiting = sorted([*(name for name in change.settings if name not in RELOADABLE), *change.also])
        if waiting:
            _log.warning("restart_needed", settings=waiting, reason="they cannot change while a worker runs")
        _log.info(
            "reloaded",
            source=self._source.name,
            tasks={how: names for how, names in change.tasks.items() if names},
            queues=[queue.name for queue in declared],
            settings=sorted(RELOADABLE & change.settings.keys()),
        )
