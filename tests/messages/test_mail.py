"""Mail arrives at a real server as it was written, and a refusal is told in the server's own words."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest
import trustme

from hanbeon.errors import MessageFailed
from hanbeon.messages import Message, Messenger
from hanbeon.outbound.secrets import Secrets, SecretSource
from hanbeon.settings import load_settings
from tests.outbound.mail import PASSWORD, USER, smtp_server

TITLE, BODY = "주간 보고서 — 11월", "안녕하세요, 에이다 님.\n\n총 3건입니다. " + "가" * 2_000 + "\n.\n끝 ✅\n"
TO = "team@example.org"


@pytest.fixture
async def messenger(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Messenger]:
    monkeypatch.setenv("TEST_SMTP_PASSWORD", PASSWORD)
    secrets = Secrets({"smtp": SecretSource(env="TEST_SMTP_PASSWORD")})
    messenger = Messenger(load_settings(outbound_allow_private=True), secrets)
    yield messenger
    await messenger.close()


async def test_korean_subject_and_body_arrive_whole(messenger: Messenger) -> None:
    async with smtp_server() as mailbox:
        target = f"{mailbox.target()}&name={quote('한번 알림')}&cc=b@example.org&bcc=c@example.org&reply=r@example.org"
        messenger.check_target(target)
        await messenger.send(Message(target, TITLE, BODY), key="0199-key")
        (mail,) = mailbox.messages
        assert (mail["Subject"], mail["To"], mail["Cc"], mail["Bcc"]) == (TITLE, TO, "b@example.org", None)
        assert mail["From"].addresses[0].display_name == "한번 알림"
        assert (mail["Reply-To"], mail["Message-ID"]) == ("r@example.org", "<0199-key@example.org>")
        assert (mail.get_content_type(), mail.get_content().replace("\r\n", "\n")) == ("text/plain", BODY)
        assert mailbox.recipients == [[TO, "b@example.org", "c@example.org"]]


async def test_html_where_the_target_says_so(messenger: Messenger) -> None:
    async with smtp_server() as mailbox:
        await messenger.send(Message(f"{mailbox.target()}&format=html", "", "<b>안녕</b>"))
        (mail,) = mailbox.messages
        assert (mail.get_content_type(), mail.get_content().strip()) == ("text/html", "<b>안녕</b>")


async def test_a_title_cannot_add_headers(messenger: Messenger) -> None:
    async with smtp_server() as mailbox:
        await messenger.send(Message(mailbox.target(), "hello\r\nBcc: eve@example.org\n\nbody", "text"))
        (mail,) = mailbox.messages
        assert (mail["Subject"], mail["Bcc"]) == ("hello Bcc: eve@example.org body", None)
        assert mailbox.recipients == [[TO]]


@pytest.mark.parametrize("implicit", [False, True], ids=["starttls", "tls"])
async def test_tls_and_login_with_a_secret(
    messenger: Messenger, implicit: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, tls = trustme.CA(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(tls)
    async with smtp_server(tls=tls, implicit=implicit, login=True) as mailbox:
        target = (
            f"mailtos://{USER}:{{{{ secrets.smtp }}}}@localhost:{mailbox.port}?from=ada@example.org&to=a@example.org,"
            f"b@example.org&smtp=localhost&mode={'ssl' if implicit else 'starttls'}"
        )
        messenger.check_target(target)
        with pytest.raises(MessageFailed, match="certificate verify failed") as failure:
            await messenger.send(Message(target, TITLE, BODY))
        assert (failure.value.permanent, mailbox.logins) == (False, [])
        await messenger.close()  # The next process finds the authority in its environment.
        authority.cert_pem.write_to_path(tmp_path / "ca.pem")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        await messenger.send(Message(target, TITLE, BODY))
        assert (mailbox.logins, mailbox.secure) == ([(USER, PASSWORD)], [True])
        assert mailbox.recipients == [["a@example.org", "b@example.org"]]


async def test_a_refused_login_is_permanent_and_masked(messenger: Messenger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_SMTP_PASSWORD", "falsch/p@ss")
    async with smtp_server(login=True) as mailbox:
        target = f"mailto://{USER}:{{{{ secrets.smtp }}}}@127.0.0.1:{mailbox.port}?from=a@example.org&to={TO}"
        with pytest.raises(MessageFailed, match=r"refused the login: 535 ") as failure:
            await messenger.send(Message(target, TITLE, BODY))
        assert failure.value.permanent
        assert (set(mailbox.logins), mailbox.messages) == ({(USER, "falsch/p@ss")}, [])
        assert "falsch" not in str(failure.value)


@pytest.mark.parametrize(
    ("step", "reply", "permanent"),
    [
        ("DATA", "550 5.7.1 not such texts", True),
        ("DATA", "451 4.3.0 try again later", False),
        ("RCPT b@example.org", "550 5.1.1 no such user", True),
        ("RCPT b@example.org", "450 4.2.0 greylisted", False),
    ],
)
async def test_a_refusal_reaches_nobody(messenger: Messenger, step: str, reply: str, permanent: bool) -> None:
    async with smtp_server(replies={step: reply}) as mailbox:
        with pytest.raises(MessageFailed) as failure:
            await messenger.send(Message(mailbox.target("a@example.org,b@example.org"), TITLE, BODY))
        assert (failure.value.permanent, mailbox.messages) == (permanent, [])
        assert str(failure.value).endswith(reply)
        assert ("b@example.org" in str(failure.value)) == step.startswith("RCPT")


async def test_an_address_that_is_none_is_not_left_out(messenger: Messenger) -> None:
    async with smtp_server() as mailbox:
        with pytest.raises(MessageFailed, match="not a valid address") as failure:
            await messenger.send(Message(mailbox.target("a@example.org,nobody"), TITLE, BODY))
        assert (failure.value.permanent, mailbox.messages) == (True, [])
