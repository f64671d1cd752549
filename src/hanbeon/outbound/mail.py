"""Mail over SMTP. It blocks; its results are the server's own: 4xx may be tried again, 5xx may not."""

from __future__ import annotations

import email.policy
import smtplib
import socket
import ssl
from collections.abc import Iterable
from email.header import decode_header, make_header
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Any, NamedTuple

from hanbeon.domain.retry import FailureType
from hanbeon.errors import MessageFailed
from hanbeon.outbound.addresses import AddressRefused

# Lines of base64 instead of 8-bit text: some servers still take nothing else.
_POLICY = email.policy.SMTP.clone(cte_type="7bit")
_REPLY_MOST = 500


class MailTarget(NamedTuple):
    """A server, and the people to whom it passes a message on."""

    host: str
    port: int
    mode: str
    """`insecure`, `starttls` or `ssl`."""
    verify: bool
    user: str | None
    password: str | None
    sender: Address
    to: tuple[Address, ...]
    cc: tuple[Address, ...] = ()
    bcc: tuple[Address, ...] = ()
    reply_to: tuple[Address, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    html: bool = False

    @property
    def server(self) -> str:
        return f"{self.host}:{self.port}"


def mail_target(parsed: Any, *, html: bool) -> MailTarget:
    """Return the target as Apprise has parsed it, with what it knows about large providers."""

    def named(addresses: Iterable[str]) -> tuple[Address, ...]:
        return tuple(_address(parsed.names.get(each), each) for each in sorted(addresses))

    return MailTarget(
        host=parsed.smtp_host,
        port=int(parsed.port),
        mode=str(getattr(parsed.secure_mode, "value", parsed.secure_mode)),
        verify=parsed.verify_certificate,
        user=parsed.user,
        password=parsed.password,
        sender=_address(*parsed.from_addr),
        to=tuple(_address(*each) for each in parsed.targets),
        cc=named(parsed.cc),
        bcc=named(parsed.bcc),
        reply_to=named(parsed.reply_to),
        headers=tuple(parsed.headers.items()),
        html=html,
    )


def send_mail(target: MailTarget, title: str, body: str, *, key: str | None, timeout: float) -> None:
    """Send one message to all its recipients, or to none of them.

    A recipient that the server refuses ends it before anything is sent: half a delivery could only be repeated for
    everyone, or for nobody.
    """
    try:
        content = mail_content(target, title, body, key)
    except (ValueError, UnicodeError, IndexError) as error:
        raise _refused(f"the message cannot be written as a mail: {error}") from None
    recipients = dict.fromkeys(each.addr_spec for each in (*target.to, *target.cc, *target.bcc))
    try:
        with _connected(target, timeout) as server:
            _accepted(target, server.mail(target.sender.addr_spec), "the sender")
            for recipient in recipients:
                _accepted(target, server.rcpt(recipient), recipient)
            _accepted(target, _data(target, server, content), "the message")
    except (MessageFailed, AddressRefused):
        raise
    except smtplib.SMTPResponseException as error:
        _accepted(target, (error.smtp_code, error.smtp_error), "the login" if _is_auth(error) else "the connection")
    except smtplib.SMTPNotSupportedError as error:
        raise _refused(f"{target.server}: {error}") from None
    except (smtplib.SMTPException, OSError) as error:
        raise MessageFailed(f"no connection to {target.server}: {str(error) or type(error).__name__}") from None


def mail_content(target: MailTarget, title: str, body: str, key: str | None) -> bytes:
    """Return the message as it is sent. Attempts with the same key have the same Message-ID."""
    message = EmailMessage(policy=_POLICY)
    if title:
        message["Subject"] = title
    message["From"] = target.sender
    message["To"] = target.to
    if target.cc:
        message["Cc"] = target.cc
    if target.reply_to:
        message["Reply-To"] = target.reply_to
    message["Date"] = formatdate(localtime=False)
    domain = target.sender.domain
    message["Message-ID"] = make_msgid(domain=domain) if key is None else f"<{key}@{domain}>"
    for name, value in target.headers:
        message[name] = value
    message.set_content(body, subtype="html" if target.html else "plain")
    return message.as_bytes()


def _connected(target: MailTarget, timeout: float) -> smtplib.SMTP:
    tls = ssl.create_default_context()
    if not target.verify:
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    # The full name of this host would be a question to a name server, which may be slow or silent.
    here = socket.gethostname() if "." in socket.gethostname() else "[127.0.0.1]"
    server: smtplib.SMTP
    if target.mode == "ssl":
        server = smtplib.SMTP_SSL(target.host, target.port, here, timeout=timeout, context=tls)
    else:
        server = smtplib.SMTP(target.host, target.port, here, timeout=timeout)
    try:
        server.ehlo_or_helo_if_needed()
        if target.mode == "starttls":
            server.starttls(context=tls)
            server.ehlo_or_helo_if_needed()
        if target.user and target.password:
            server.login(target.user, target.password)
    except BaseException:
        server.close()
        raise
    return server


def _data(target: MailTarget, server: smtplib.SMTP, content: bytes) -> tuple[int, bytes]:
    try:
        return server.data(content)
    except smtplib.SMTPDataError as error:
        return error.smtp_code, _bytes(error.smtp_error)
    except (smtplib.SMTPException, OSError) as error:
        raise MessageFailed(
            f"the connection to {target.server} broke before it answered, and the message may have been sent: {error}"
        ) from None


def _accepted(target: MailTarget, reply: tuple[int, bytes | str], subject: str) -> None:
    code, text = reply
    if code // 100 == 2:
        return
    words = " ".join(_bytes(text).decode(errors="replace").split())[:_REPLY_MOST]
    message = f"{target.server} refused {subject}: {code} {words}"
    raise _refused(message) if code // 100 == 5 else MessageFailed(message)


def _is_auth(error: smtplib.SMTPResponseException) -> bool:
    return isinstance(error, smtplib.SMTPAuthenticationError)


def _bytes(text: bytes | str) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _refused(message: str) -> MessageFailed:
    return MessageFailed(message, permanent=True, failure_type=FailureType.INVALID)


def _address(name: Any, address: str) -> Address:
    """An address; the parser may have encoded the name for a header already."""
    return Address(str(make_header(decode_header(name))) if name else "", addr_spec=address)
