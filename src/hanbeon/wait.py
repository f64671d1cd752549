"""The waiting loop: read until something has ended, at growing intervals and after hints."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager
from typing import TypeVar

T = TypeVar("T")
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
_GATHER_SECONDS = 0.005
Hints = Callable[[Callable[[], None]], AbstractContextManager[None]]
"""While the context is active, the function is called whenever something may have happened."""


def pauses(longest: float = LONGEST_PAUSE) -> Iterator[float]:
    """Yield the seconds between one read and the next, without end."""
    pause = FIRST_PAUSE
    while True:
        yield min(longest, pause)
        pause *= 2


async def until(
    read: Callable[[], Awaitable[T]],
    ended: Callable[[T], bool],
    hints: Hints | None = None,
    *,
    longest: float = LONGEST_PAUSE,
) -> T:
    """Read until the result has ended, and return it. The caller limits the time."""
    arrived = asyncio.Event()
    with contextlib.nullcontext() if hints is None else hints(arrived.set):
        for pause in pauses(longest):
            arrived.clear()
            found = await read()
            if ended(found):
                return found
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await arrived.wait()
                    await asyncio.sleep(_GATHER_SECONDS)  # Hints come with every commit of any process.
    raise AssertionError("there is always another pause")
