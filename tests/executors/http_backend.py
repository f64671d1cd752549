"""HTTP calls without an engine: real requests to a server of the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

from hanbeon.clock import SystemClock
from hanbeon.domain.outcome import Outcome
from hanbeon.executors.http.executor import HttpExecutor, new_client
from hanbeon.outbound.client import OutboundClient
from hanbeon.settings import load_settings
from hanbeon.tasks.http_call import http_task_at
from tests.executors.backend import Started, new_call
from tests.outbound.web import Names, Routes, Web


class Caller:
    def __init__(self, executor: HttpExecutor) -> None:
        self.executor = executor

    def start(
        self, url: str, arguments: Mapping[str, Any] | None = None, *, max_bytes: int = 1_024, **options: Any
    ) -> Started:
        options = {"allow_private": True, **options}
        call, _ = new_call(http_task_at("work", url, options), max_result_bytes=max_bytes, **(arguments or {}))
        return Started(self.executor, call)

    async def call(self, url: str, arguments: Mapping[str, Any] | None = None, **options: Any) -> Outcome | None:
        return await self.start(url, arguments, **options).within(20)


@asynccontextmanager
async def calling(
    make_client: Callable[[ThreadPoolExecutor, int], OutboundClient] = new_client, **settings: Any
) -> AsyncIterator[Caller]:
    executor = HttpExecutor(load_settings(**settings), SystemClock(), make_client)
    try:
        yield Caller(executor)
    finally:
        await executor.close()


def internet(
    names: Mapping[str, str], servers: Mapping[str, Web]
) -> Callable[[ThreadPoolExecutor, int], OutboundClient]:
    """A client in whose internet these names have these addresses, and these servers are at these addresses."""
    found = Names(**{name.replace(".", "_"): [[address]] for name, address in names.items()})
    return lambda threads, keep: OutboundClient(found, keep=keep, network=Routes(servers))
