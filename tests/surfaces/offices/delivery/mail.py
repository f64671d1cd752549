"""A real SMTP server on loopback that keeps what it is sent."""

from __future__ import annotations

import asyncio
import contextlib
import email.policy
import threading
from collections.abc import AsyncIterator, Iterator
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any

from aiosmtpd.smtp import SMTP


class Mailbox:
    """Received messages. `refuse`: how many of the next messages get a temporary failure."""

    def __init__(self, refuse: int = 0) -> None:
        self.messages: list[EmailMessage] = []
        self.refused = 0
        self._refuse = refuse
        self.port = 0

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.refused < self._refuse:
            self.refused += 1
            return "451 try again later"
        self.messages.append(BytesParser(EmailMessage, policy=email.policy.default).parsebytes(envelope.content))
        return "250 OK"

    def target(self, to: str = "team@example.org") -> str:
        return f"mailto://127.0.0.1:{self.port}?from=hanbeon@example.org&to={to}"


@contextlib.contextmanager
def smtp_thread() -> Iterator[Mailbox]:
    """Run `smtp_server` in a thread, for a test that has no event loop."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    serving = smtp_server()
    try:
        yield asyncio.run_coroutine_threadsafe(serving.__aenter__(), loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(serving.__aexit__(None, None, None), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextlib.asynccontextmanager
async def smtp_server(refuse: int = 0) -> AsyncIterator[Mailbox]:
    """Run the server in the event loop of the test: its senders are other processes."""
    mailbox = Mailbox(refuse)
    server = await asyncio.get_running_loop().create_server(lambda: SMTP(mailbox), "127.0.0.1", 0)
    try:
        mailbox.port = server.sockets[0].getsockname()[1]
        yield mailbox
    finally:
        server.close()
        await server.wait_closed()
