"""asyncpg, without what differs from run to run."""

from __future__ import annotations

import logging
from typing import Any, cast

from hanbeon.store.database.drivers import asyncpg
from hanbeon.testing.simulation.world import World


class _Time:
    """Stands for the module `time`, of which the driver uses this."""

    def __init__(self, world: World) -> None:
        self.monotonic = world.monotonic


def make_repeatable(world: World) -> None:
    """Change the driver in this process for good; it is a run's own."""
    time, connection = _Time(world), cast("Any", asyncpg.connection)
    connection.time = cast("Any", asyncpg.protocol.protocol).time = time
    close_statements = connection.Connection._cleanup_stmts

    async def in_order(self: Any) -> None:
        # A set of objects, whose order is that of their addresses.
        self._stmts_to_close = dict.fromkeys(sorted(self._stmts_to_close, key=lambda each: (len(each.name), each.name)))
        await close_statements(self)

    connection.Connection._cleanup_stmts = in_order
    logging.getLogger("asyncpg").disabled = True
