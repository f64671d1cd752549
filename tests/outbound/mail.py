"""A real SMTP server on loopback that keeps what it is sent."""

from __future__ import annotations

import asyncio
import contextlib
import email.policy
import ssl
import threading
import warnings
from collections.abc import AsyncIterator, Iterator, Mapping
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult

USER, PASSWORD = "ada", "geheim/p@ss wort"


class Mailbox:
    """Received messages. `refuse`: how many of the next messages get a temporary failure.

    `replies` are what it answers instead of accepting, by the step: `RCPT <address>` or `DATA`.
    """

    def __init__(self, refuse: int = 0, replies: Mapping[str, str] | None = None) -> None:
        self.messages: list[EmailMessage] = []
        self.recipients: list[list[str]] = []
        self.secure: list[bool] = []
        self.logins: list[tuple[str, str]] = []
        self.refused = 0
        self.asked = asyncio.Event()
        self.left = asyncio.Event()
        self.hangs = False
        self._refuse = refuse
        self._replies = replies or {}
        self.port = 0

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if (reply := self._replies.get(f"RCPT {address}")) is not None:
            return reply
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.asked.set()
        if self.hangs:
            try:
                await asyncio.Event().wait()
            finally:
                self.left.set()
        if (reply := self._replies.get("DATA")) is not None:
            return reply
        if self.refused < self._refuse:
            self.refused += 1
            return "451 try again later"
        self.messages.append(BytesParser(EmailMessage, policy=email.policy.default).parsebytes(envelope.content))
        self.recipients.append(envelope.rcpt_tos)
        self.secure.append(server.transport.get_extra_info("ssl_object") is not None)
        return "250 OK"

    def authenticate(self, server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        login = (data.login.decode(), data.password.decode())
        self.logins.append(login)
        return AuthResult(success=login == (USER, PASSWORD), handled=False)

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
async def smtp_server(
    refuse: int = 0,
    replies: Mapping[str, str] | None = None,
    *,
    tls: ssl.SSLContext | None = None,
    implicit: bool = False,
    login: bool = False,
) -> AsyncIterator[Mailbox]:
    """Run the server in the event loop of the test: its senders are other processes.

    With `tls`, it demands STARTTLS, or TLS from the first byte if `implicit`; with `login`, USER and PASSWORD.
    """
    mailbox = Mailbox(refuse, replies)
    options: dict[str, Any] = {"authenticator": mailbox.authenticate, "auth_required": True} if login else {}
    if tls is not None and not implicit:
        options |= {"tls_context": tls, "require_starttls": True}
    elif login:
        options["auth_require_tls"] = False  # It counts STARTTLS only.

    def serve() -> SMTP:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # That a login without TLS is unsafe.
            return SMTP(mailbox, **options)

    loop = asyncio.get_running_loop()
    server = await loop.create_server(serve, "127.0.0.1", 0, ssl=tls if implicit else None)
    try:
        mailbox.port = server.sockets[0].getsockname()[1]
        yield mailbox
    finally:
        server.close()
        await server.wait_closed()
