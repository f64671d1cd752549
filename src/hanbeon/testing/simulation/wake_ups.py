"""Wake-ups between simulated processes: late, in any order, or lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from hanbeon.store.tx import HINTS
from hanbeon.testing.simulation.world import current_node

_LOST_SHARE = 0.05
_LATEST_SECONDS = 2e-3


class SimulatedNotifier:
    """Stands for the sockets beside a SQLite file."""

    def __init__(self, path: Path) -> None:
        node = current_node.get()
        assert node is not None
        self._node = node

    def send(self, hints: Iterable[str]) -> None:
        world, sent = self._node.world, set(hints)
        if not sent:
            return
        for node, received in list(world.listeners):
            if world.now >= world.deaf_until and world.draw() >= _LOST_SHARE:
                world.later(node, world.draw() * _LATEST_SECONDS, partial(received, set(sent)))

    async def listen(self, received: Callable[[set[str]], None]) -> None:
        listeners, mine = self._node.world.listeners, (self._node, received)
        listeners.append(mine)
        try:
            received(set(HINTS))
            await asyncio.get_running_loop().create_future()
        finally:
            listeners = self._node.world.listeners
            if mine in listeners:
                listeners.remove(mine)

    async def close(self) -> None:
        return
