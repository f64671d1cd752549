"""A process of its own that folds, and stops for ever just before the last statement of it."""

import asyncio
import sys
import threading
from collections.abc import Sequence
from typing import Any

from hanbeon.clock import SystemClock
from hanbeon.store.backends import open_store
from hanbeon.store.operations.tallies import fold
from hanbeon.store.tx import Tx
from hanbeon.surfaces.store_parts import add_surfaces
from tests.processes.owner import end_with_the_owner
from tests.processes.process import READY


class Halting:
    """A transaction that never says how far it has come."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    async def fetch(self, name: str, *args: Any) -> Sequence[Any]:
        if name == "advance_fold":
            print(READY, flush=True)
            threading.Event().wait()
        return await self._tx.fetch(name, *args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)


async def main(url: str) -> None:
    store = add_surfaces(open_store(url, SystemClock()))
    await store.open()
    await store.write(lambda tx: fold(Halting(tx), 1000))


if __name__ == "__main__":
    end_with_the_owner()
    asyncio.run(main(sys.argv[1]))
