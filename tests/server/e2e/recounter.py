"""Watches the numbers of a database from outside: at every moment they are those of a recount."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping

from hanbeon import App
from hanbeon.domain.lifecycle import State
from hanbeon.domain.tally import Stock
from hanbeon.store.operations import tallies
from hanbeon.store.tx import Tx

Numbers = dict[str, dict[State, int]]


class Recounter:
    """In a loop, on one snapshot each: what the service would tell, and a count of all rows.

    A request and a recount are two moments, between which jobs move. So what `GET stats` adds up is read here where it
    can be held against the jobs of the very same moment; that the route tells it is shown where nothing moves.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._stop = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._watch()), name="recounter")
        self._failure: BaseException | None = None
        self.different: list[str] = []
        self.seen: set[str] = set()
        """Each distinct set of numbers, as text: how much there was to see."""

    def __enter__(self) -> Recounter:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    async def _watch(self) -> None:
        try:
            async with App(self._url) as app:
                while not self._stop.is_set():
                    reported, counted = await app.store.read(_both)
                    self.seen.add(str(counted))
                    if reported != counted:
                        self.different.append(f"reported {reported}, counted {counted}")
        except BaseException as error:  # Told to whoever ends the block; here nobody would see it.
            self._failure = error


async def _both(tx: Tx) -> tuple[Numbers, Numbers]:
    return _numbers(await tallies.stocks(tx)), _numbers(await tallies.recount(tx))


def _numbers(stocks: Mapping[str, Stock]) -> Numbers:
    found = {queue: {state: n for state in State if (n := stock.count(state))} for queue, stock in stocks.items()}
    return {queue: counts for queue, counts in sorted(found.items()) if counts}
