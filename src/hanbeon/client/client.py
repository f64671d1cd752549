"""A server, to be asked from a program: `Client` waits for each answer, `AsyncClient` is awaited."""

from __future__ import annotations

import ssl

from hanbeon.client.asking import Manner
from hanbeon.client.lines import AsyncHttpLine, SyncHttpLine
from hanbeon.client.offices import AsyncOffice, AsyncOffices, Office, Offices
from hanbeon.client.opening import Address
from hanbeon.errors import InvalidInput

TIMEOUT_SECONDS = 30.0
RETRY_SECONDS = 30.0


class Client:
    """Asks one server; `with Client(url) as client:` closes its connections. May be used by many threads."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        token: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retry_for: float = RETRY_SECONDS,
        verify: ssl.SSLContext | bool = True,
    ) -> None:
        """`timeout`: seconds for one answer. `retry_for`: seconds in which a request may be sent again; 0 for never."""
        self._manner = _manner(retry_for)
        self._line = SyncHttpLine(Address(url, token, timeout, verify))

    @property
    def offices(self) -> Offices:
        """All offices."""
        return Offices(self._line, self._manner, {})

    def office(self, office_id: str) -> Office:
        """One office, which is not asked for yet."""
        return Office(self._line, self._manner, {"id": office_id})

    def close(self) -> None:
        self._line.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class AsyncClient:
    """Asks one server from an event loop; `async with AsyncClient(url) as client:` closes its connections."""

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
        self._manner = _manner(retry_for)
        self._line = AsyncHttpLine(Address(url, token, timeout, verify))

    @property
    def offices(self) -> AsyncOffices:
        """All offices."""
        return AsyncOffices(self._line, self._manner, {})

    def office(self, office_id: str) -> AsyncOffice:
        """One office, which is not asked for yet."""
        return AsyncOffice(self._line, self._manner, {"id": office_id})

    async def close(self) -> None:
        await self._line.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()


def _manner(retry_for: float) -> Manner:
    if not retry_for >= 0:
        raise InvalidInput(f"{retry_for!r} does not fit; use seconds, 0 for a single try", field="retry_for")
    return Manner(retry_for)
