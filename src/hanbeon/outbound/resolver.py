"""Name resolution, in threads of its own: a silent name server blocks nothing else."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from hanbeon.domain.retry import FailureType
from hanbeon.errors import TaskError

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
