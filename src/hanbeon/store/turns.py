"""Many small writes one after the other, with room for the writes of others between them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from hanbeon.store.tx import in_parts

T = TypeVar("T")
R = TypeVar("R")

AT_ONCE = 100
"""Jobs that one of the transactions moves. On SQLite, whatever else is written waits for its end."""
_PAUSE_MOST = 0.1


async def in_turns(items: Sequence[T], move: Callable[[Sequence[T]], Awaitable[R]]) -> list[R]:
    """Move the items in batches, in order; return the answers. Stopped in between, it has moved the first batches."""
    answers: list[R] = []
    loop, took = asyncio.get_running_loop(), 0.0
    for part in in_parts(items, AT_ONCE):
        if answers:
            # Half of the time belongs to others: SQLite admits the one that asks while nobody writes.
            await asyncio.sleep(min(took, _PAUSE_MOST))
        began = loop.time()
        answers.append(await move(part))
        took = loop.time() - began
    return answers
