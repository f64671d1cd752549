"""The installation behind a server: its services have the methods, arguments and results of an App's."""

from __future__ import annotations

import functools
import ssl
from typing import Any

from hanbeon.client.client import RETRY_SECONDS, TIMEOUT_SECONDS, AsyncClient
from hanbeon.client.services import RemoteService, methods_of
from hanbeon.surfaces.installation import Installation
from hanbeon.surfaces.surface import Surface


class RemoteInstallation(Installation):
    """An installation over HTTP, with the rights of a token; `async with` closes its connections."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retry_for: float = RETRY_SECONDS,
        verify: ssl.SSLContext | bool = True,
    ) -> None:
        """As for `AsyncClient`."""
        self.client = AsyncClient(url, token=token, timeout=timeout, retry_for=retry_for, verify=verify)

    def _service(self, surface: Surface) -> Any:
        return RemoteService(self.client._transport, self.client._retry, _methods(surface))

    async def close(self) -> None:
        await self.client.close()

    async def __aenter__(self) -> RemoteInstallation:
        return self


_methods = functools.cache(methods_of)
