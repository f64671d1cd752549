"""Connections to checked addresses: a name is resolved once, and only what was checked is connected to."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from httpcore2 import SOCKET_OPTION, AsyncNetworkBackend, AsyncNetworkStream, ConnectError, ConnectTimeout

from hanbeon.domain.retry import FailureType
from hanbeon.errors import PermanentError, TaskError
from hanbeon.outbound.addresses import HOW_TO_ALLOW, HOW_TO_NAME, Private, how_to_allow, why_refused

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host, best first."""


class SystemResolver:
    """The system's resolver: /etc/hosts, then name servers."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._threads, _addresses, host, port)
        except (OSError, UnicodeError) as error:
            raise TaskError(f"{host} cannot be resolved: {error}", failure_type=FailureType.TEMPORARY) from error
        return found


def _addresses(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


class CheckedNetwork(AsyncNetworkBackend):
    """Between a client, which verifies certificates against names, and the network, which gets only addresses.

    If any address of a name is not public, the name is refused: which of them is reached must not be left to chance.
    """

    def __init__(self, resolve: Resolve, network: AsyncNetworkBackend, *, allow_private: Private) -> None:
        self._resolve, self._network, self._allow_private = resolve, network, allow_private

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        loop = asyncio.get_running_loop()
        ends_at = None if timeout is None else loop.time() + timeout
        try:
            async with asyncio.timeout_at(ends_at):
                addresses = await self._resolve(host, port)
        except TimeoutError as error:
            raise ConnectTimeout(f"its name was not resolved within {timeout:g} s") from error
        self._check(host, addresses)
        failure: Exception = ConnectError("its name has no address")
        for place, address in enumerate(addresses):
            # The others get their share of the time: an address that is never answered must not take all of it.
            share = None if ends_at is None else max(0.0, (ends_at - loop.time()) / (len(addresses) - place))
            try:
                return await self._network.connect_tcp(address, port, share, local_address, socket_options)
            except (ConnectError, ConnectTimeout) as error:
                failure = error
        raise failure

    def _check(self, host: str, addresses: Sequence[str]) -> None:
        for address in addresses:
            kind = why_refused(address, self._allow_private)
            if kind is not None:
                where = host if host == address else f"{host} ({address})"
                own = "if the task may reach it, say allow_private = true in its http table"
                remedy = own if how_to_allow(kind) == HOW_TO_ALLOW else HOW_TO_NAME
                raise PermanentError(
                    f"{where} is refused: a {kind} address; {remedy}",
                    failure_type=FailureType.PERMISSION_ERROR,
                )


def reason_outside_tasks(error: TaskError) -> str:
    """Return the message of a failed call that no task has made: the remedy for a refused address is another."""
    if error.failure_type != FailureType.PERMISSION_ERROR:
        return str(error)
    reason, _, remedy = str(error).partition("; ")
    return f"{reason}; {HOW_TO_NAME if remedy == HOW_TO_NAME else HOW_TO_ALLOW}"
