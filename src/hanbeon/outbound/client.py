"""A client for HTTP that keeps connections for the next request. The exceptions of its library stop here."""

from __future__ import annotations

import contextlib
import re
import ssl
from collections.abc import AsyncIterator, Iterator
from typing import NamedTuple

import httpcore2

from hanbeon.cleanup import cleanup, to_the_end
from hanbeon.domain.retry import FailureType
from hanbeon.errors import PermanentError, TaskError
from hanbeon.outbound.addresses import Private
from hanbeon.outbound.network import CheckedNetwork, Resolve
from hanbeon.outbound.origin import Origin
from hanbeon.quotation import quoted

_KEPT_SECONDS = 10.0
_VALUE = re.compile(r"[\t\x20-\x7e]*")


class HttpRequest(NamedTuple):
    """A request, to the byte."""

    method: str
    origin: Origin
    target: str
    headers: dict[str, str]
    body: bytes | None = None


class HttpResponse:
    """A response. Its body stays on the wire until it is read."""

    def __init__(self, request: HttpRequest, response: httpcore2.Response) -> None:
        self._origin, self._response = request.origin, response
        self.status = response.status
        self._headers = {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in response.headers}

    def header(self, name: str) -> str:
        return self._headers.get(name, "")

    async def read(self, limit: int) -> tuple[bytes, bool]:
        """Return the body and whether it is complete. Reads at most `limit` bytes and the rest of the last chunk."""
        found = bytearray()
        with _border(self._origin):
            async with contextlib.aclosing(self._response.aiter_stream()) as chunks:
                async for chunk in chunks:
                    found += chunk
                    if len(found) > limit:
                        return bytes(found[:limit]), False
        return bytes(found), True


class OutboundClient:
    """Connections by origin, those of tasks that may go to private addresses apart: what was not checked for one task
    must not be reused for another."""

    def __init__(
        self,
        resolve: Resolve,
        *,
        keep: int,
        network: httpcore2.AsyncNetworkBackend | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Keep at most `keep` connections alive. No proxy of the environment is used: it would make the connection."""
        network = network or httpcore2.AnyIOBackend()
        tls = tls or httpcore2.default_ssl_context()

        def pool(allow_private: Private) -> httpcore2.AsyncConnectionPool:
            return httpcore2.AsyncConnectionPool(
                ssl_context=tls,
                max_connections=None,
                max_keepalive_connections=keep,
                keepalive_expiry=_KEPT_SECONDS,
                network_backend=CheckedNetwork(resolve, network, allow_private=allow_private),
            )

        self._new_pool = pool
        self._pools: dict[Private, httpcore2.AsyncConnectionPool] = {}

    @contextlib.asynccontextmanager
    async def send(
        self, request: HttpRequest, *, connect_seconds: float, allow_private: Private
    ) -> AsyncIterator[HttpResponse]:
        """Yield the response once its head is there. A body that is not read to its end costs the connection."""
        with _border(request.origin):
            pool = self._pools.get(allow_private) or self._pools.setdefault(
                allow_private, self._new_pool(allow_private)
            )
            response = await pool.handle_async_request(_core(request, connect_seconds))
        try:
            yield HttpResponse(request, response)
        finally:
            await to_the_end(response.aclose())

    @cleanup
    async def close(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()


def _core(request: HttpRequest, connect_seconds: float) -> httpcore2.Request:
    scheme, host, port = request.origin
    headers = {"Host": request.origin.authority, **request.headers}
    if request.body is not None:
        headers["Content-Length"] = str(len(request.body))
    return httpcore2.Request(
        request.method,
        httpcore2.URL(scheme=scheme, host=host, port=port, target=request.target),
        headers=[_encoded(name, value) for name, value in headers.items()],
        content=request.body,
        extensions={"timeout": {"connect": connect_seconds}},
    )


def _encoded(name: str, value: str) -> tuple[bytes, bytes]:
    if not (_VALUE.fullmatch(value) and name.isascii()):
        # Without the value, which may be a secret.
        raise PermanentError(
            f"header {quoted(name)} must be ASCII without line breaks; encode it, or send it in the body",
            failure_type=FailureType.INVALID,
        )
    return name.encode("ascii"), value.encode("ascii")


@contextlib.contextmanager
def _border(origin: Origin) -> Iterator[None]:
    """Translate the library's exceptions into errors of the attempt."""
    try:
        yield
    except httpcore2.ConnectTimeout as error:
        raise _temporary(f"{origin} did not accept the connection in time: {error}") from error
    except httpcore2.ConnectError as error:
        raise _temporary(f"no connection to {origin}: {error}") from error
    except (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.RemoteProtocolError) as error:
        raise _temporary(f"the connection to {origin} broke: {error}") from error
    except (httpcore2.LocalProtocolError, httpcore2.UnsupportedProtocol, UnicodeError):
        # Its text may show a header, and so a secret.
        raise PermanentError("the request cannot be sent over HTTP", failure_type=FailureType.INVALID) from None


def _temporary(message: str) -> TaskError:
    return TaskError(message.rstrip(": "), failure_type=FailureType.TEMPORARY)
