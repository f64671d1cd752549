"""Both clients, asked alike: what a test says once holds for each."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Callable
from typing import Any

from hanbeon.client import AsyncClient, Client


class AnyClient:
    """A client of either kind."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def __call__(self, method: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """What the method answers."""
        if isinstance(self.client, AsyncClient):
            return await method(*args, **named)
        return await asyncio.to_thread(method, *args, **named)

    async def take(self, items: Any, count: int | None = None) -> list[Any]:
        """The first so many that an iterator gives, or all."""
        if not isinstance(self.client, AsyncClient):
            return await asyncio.to_thread(lambda: list(itertools.islice(items, count)))
        taken: list[Any] = []
        async with contextlib.aclosing(items):
            while count is None or len(taken) < count:
                try:
                    taken.append(await anext(items))
                except StopAsyncIteration:
                    break
        return taken


@contextlib.asynccontextmanager
async def any_client(kind: str, url: str, **options: Any) -> AsyncIterator[AnyClient]:
    if kind == "async":
        async with AsyncClient(url, **options) as client:
            yield AnyClient(client)
    else:
        with Client(url, **options) as client:
            yield AnyClient(client)
