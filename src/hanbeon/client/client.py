"""Clients of a server: `Client` blocks, `AsyncClient` is awaited."""

from __future__ import annotations

import ssl

from hanbeon.client.address import Address
from hanbeon.client.calls import RetryConfig
from hanbeon.client.resources import AsyncResources, SyncResources
from hanbeon.client.transport import AsyncHttpTransport, SyncHttpTransport
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule

TIMEOUT_SECONDS = 30.0
RETRY_SECONDS = 30.0


class Client(SyncResources):
    """A client of one server; `with Client(url) as client:` closes its connections. It is thread-safe."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        token: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retry_for: float = RETRY_SECONDS,
        verify: ssl.SSLContext | bool = True,
    ) -> None:
        """`timeout`: seconds for one response. `retry_for`: seconds during which a request is retried; 0 for never."""
        self._retry = _retry_config(retry_for)
        self._transport = SyncHttpTransport(Address(url, token, timeout, verify))

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class AsyncClient(AsyncResources):
    """A client of one server for an event loop; `async with AsyncClient(url) as client:` closes its connections."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        token: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retry_for: float = RETRY_SECONDS,
        verify: ssl.SSLContext | bool = True,
    ) -> None:
        """As for `Client`."""
        self._retry = _retry_config(retry_for)
        self._transport = AsyncHttpTransport(Address(url, token, timeout, verify))

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()


def _retry_config(retry_for: float) -> RetryConfig:
    if not retry_for >= 0:
        raise InvalidInput(Rule("must_be", what=Rule("retry_seconds"), got=repr(retry_for)), field="retry_for")
    return RetryConfig(retry_for)
