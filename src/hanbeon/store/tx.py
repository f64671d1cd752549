"""What an operation asks of a transaction, the same for both databases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeVar

import msgspec

from hanbeon.domain.events import Event

T = TypeVar("T")
HINTS = frozenset(("work", "later", "stop", "event", "fire", "outgoing"))
"""A job may be taken; one has a time to wait for or is to be counted again; one is to stop; something was told; a
schedule fires at another time than before; somebody wants to be told, or a message is ready to be sent."""


class Tx(Protocol):
    """One open transaction.

    Operations are written once, as coroutines over this. On PostgreSQL they run on the event loop; SQLite's
    transaction never suspends, so its thread drives the same coroutine to its end without a loop.
    """

    async def fetch(self, name: str, *args: Any) -> Sequence[Any]:
        """Run a named statement; its rows, readable by position and by column name."""
        ...

    def emit(self, *events: Event) -> None:
        """Append events; they are written with the transaction, in this order, as one batch."""
        ...

    def wake(self, *hints: str) -> None:
        """Once the transaction has committed, tell listeners (see `HINTS`). Lost hints cost only time."""
        ...


def to_json(value: Any) -> str:
    """Batches travel as one JSON text, which both databases unfold in SQL."""
    return msgspec.json.encode(value).decode()


def in_parts(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """What is too much for one statement, in order."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def drive(coroutine: Any) -> Any:
    """Run a coroutine that never suspends, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise RuntimeError("an operation awaited something other than its transaction")
