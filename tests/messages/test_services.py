"""Messages to services over HTTP: what arrives, what is refused, what hangs, and what nobody gets to see."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from urllib.parse import unquote

import psutil
import pytest

from hanbeon.errors import InvalidInput, MessageFailed, SecretUnavailable
from hanbeon.messages import Message, Messenger, check_target, shown_target
from hanbeon.outbound.secrets import Secrets, SecretSource
from hanbeon.settings import load_settings
from tests.outbound.mail import smtp_server
from tests.outbound.web import Web, reply, silence

TOKEN = "geheim/üp&x=1?#@ 끝"


def senders() -> list[psutil.Process]:
    """The processes of this one that send messages; servers of other tests may be its children, too."""
    found = []
    for each in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):  # It has ended meanwhile.
            if "hanbeon.outbound.sender" in each.cmdline():
                found.append(each)
    return found


@pytest.fixture
async def messenger(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Messenger]:
    monkeypatch.setenv("TEST_TOKEN", TOKEN)
    secrets = Secrets({"token": SecretSource(env="TEST_TOKEN"), "unset": SecretSource(env="TEST_UNSET_TOKEN")})
    messenger = Messenger(load_settings(outbound_allow_private=True), secrets)
    yield messenger
    await messenger.close()


async def test_a_json_webhook_gets_the_message(messenger: Messenger) -> None:
    async with Web(reply(200)) as web:
        target = f"json://127.0.0.1:{web.port}/{{{{ secrets.token }}}}?+X-Team=platform"
        messenger.check_target(target)
        for number in range(2):
            await messenger.send(Message(target, f"제목 {number}", "본문: {{ not.again }}"), key="key-1")
        first, second = (json.loads(each.body) for each in web.seen)
        assert (first["title"], first["message"], first["type"]) == ("제목 0", "본문: {{ not.again }}", "info")
        assert second["title"] == "제목 1"
        assert web.seen[0].headers["x-team"] == "platform"
        assert web.seen[0].headers["idempotency-key"] == "key-1"
        assert len(senders()) == 1  # The same process sent both.


async def test_a_secret_can_be_the_whole_target(messenger: Messenger, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Web(reply(200)) as web:
        monkeypatch.setenv("TEST_TOKEN", f"json://127.0.0.1:{web.port}/first")
        messenger.check_target("token")
        await messenger.send(Message("token", "t", "b"))
        # Read at every use: a rotation needs no restart.
        monkeypatch.setenv("TEST_TOKEN", f"json://127.0.0.1:{web.port}/second")
        await messenger.send(Message("token", "t", "b"))
        assert [each.target for each in web.seen] == ["/first", "/second"]
        monkeypatch.setenv("TEST_TOKEN", "geheim")
        with pytest.raises(MessageFailed, match="must be a target") as failure:
            await messenger.send(Message("token", "t", "b"))
        assert failure.value.permanent
        assert "geheim" not in str(failure.value)


@pytest.mark.parametrize(("status", "permanent"), [(500, False), (429, False), (404, True), (401, True)])
@pytest.mark.parametrize("path", ["plain", "{{ secrets.token }}"])
async def test_refusal_quotes_the_service_unless_it_got_a_secret(
    messenger: Messenger, path: str, status: int, permanent: bool
) -> None:
    """A server may echo a secret in any form, and an error is seen by all."""
    async with Web(reply(status, "지금은 안 됩니다")) as web:
        with pytest.raises(MessageFailed, match=rf"error={status}") as failure:
            await messenger.send(Message(f"json://127.0.0.1:{web.port}/{path}", "t", "b"))
        assert (TOKEN in unquote(web.seen[0].target)) is (path != "plain")
        assert ("지금은 안 됩니다" in str(failure.value)) is (path == "plain")
        assert (failure.value.permanent, "geheim" in str(failure.value)) == (permanent, False)


async def test_no_character_of_a_password_is_told(messenger: Messenger) -> None:
    async with Web(reply(200)) as web:
        with pytest.raises(MessageFailed, match="cannot take all characters") as failure:
            await messenger.send(Message(f"json://ada:{{{{ secrets.token }}}}@127.0.0.1:{web.port}/", "t", "b"))
        assert failure.value.permanent
        assert "끝" not in str(failure.value)


async def test_a_server_that_is_down_may_come_back(messenger: Messenger) -> None:
    async with Web() as web:
        port = web.port
    for target in (f"json://127.0.0.1:{port}/", f"mailto://127.0.0.1:{port}?from=a@example.org&to=b@example.org"):
        with pytest.raises(MessageFailed, match=r"[Cc]onnection") as failure:
            await messenger.send(Message(target, "t", "b"))
        assert not failure.value.permanent


async def test_a_service_that_hangs_ends_at_the_timeout(messenger: Messenger) -> None:
    async with Web(silence) as web, smtp_server() as mailbox, asyncio.timeout(300):
        mailbox.hangs = True
        for target in (f"json://127.0.0.1:{web.port}/?rto=600&cto=600", mailbox.target()):
            with pytest.raises(MessageFailed, match=r"within 3 s") as failure:
                await messenger.send(Message(target, "t", "b"), timeout=3)
            assert not failure.value.permanent
            assert senders() == []
        await web.left.wait()
        await mailbox.left.wait()


async def test_a_cancelled_message_leaves_nothing_behind(messenger: Messenger) -> None:
    async with Web(silence) as web, asyncio.timeout(300):
        sending = asyncio.create_task(messenger.send(Message(f"json://127.0.0.1:{web.port}/?rto=600", "t", "b")))
        await web.asked.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert senders() == []
        await web.left.wait()


async def test_a_killed_process_is_a_failure_and_replaced(messenger: Messenger) -> None:
    async with Web(silence, reply(200)) as web, asyncio.timeout(300):
        message = Message(f"json://127.0.0.1:{web.port}/?rto=600", "t", "b")
        sending = asyncio.create_task(messenger.send(message))
        await web.asked.wait()
        senders()[0].kill()
        with pytest.raises(MessageFailed, match="it may have been sent") as failure:
            await sending
        assert not failure.value.permanent
        await messenger.send(message)
        senders()[0].kill()
        await messenger.send(message)  # One that died while it was idle has not seen the message.
        assert len(web.seen) == 3


async def test_private_addresses_are_refused_without_leave() -> None:
    messenger = Messenger(load_settings(), Secrets())
    async with Web(reply(200)) as web, smtp_server() as mailbox:
        for host in ("127.0.0.1", "localhost"):
            for target in (f"json://{host}:{web.port}/", f"mailto://{host}:{mailbox.port}?from=a@b.org&to=c@d.org"):
                with pytest.raises(MessageFailed, match=r"is refused: .*allow_private = true") as failure:
                    await messenger.send(Message(target, "t", "b"))
                assert (failure.value.permanent, failure.value.failure_type) == (True, "permission_error")
        assert (web.open, web.seen, mailbox.messages) == (0, [], [])
    await messenger.close()


async def test_a_secret_that_cannot_be_read_is_named(messenger: Messenger) -> None:
    with pytest.raises(
        SecretUnavailable, match="secret unset cannot be read: the variable TEST_UNSET_TOKEN is not set"
    ):
        await messenger.send(Message("json://{{ secrets.unset }}.example.org", "t", "b"))


SECRETS = Secrets({"token": SecretSource(env="TEST_UNSET_TOKEN")})


@pytest.mark.parametrize(
    "target",
    [
        "mailto://ada:{{ secrets.token }}@mail.example.org?to=a@example.org",
        "slack://{{ secrets.token }}",
        "jsons://example.org/hook",
        "token",
    ],
)
def test_targets_are_accepted_without_their_secrets(target: str) -> None:
    check_target(target, SECRETS, load_settings())
    assert "ada:{{" not in shown_target(target)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("", "must be text"),
        (7, "must be text"),
        ("tokne", "did you mean token"),
        ("HOME", "must name a declared secret"),
        ("json://{{ secrets.HOME }}", "secrets.token"),
        ("json://{{ env.HOME }}", "secrets.token"),
        ("json://{{ secrets }}", "must use known"),
        ("json://{{ secrets.token | upper }}", "must have only a name"),
        ("{{ secrets.token }}://x", "must be of an allowed kind"),
        ("syslog://localhost", "must be of an allowed kind"),
        ("file:///etc/passwd", "must be of an allowed kind"),
        ("http://example.org/", "must be of an allowed kind"),
        ("json://", "must be a complete target"),
        ("mailto://example.org?from=a@example.org&to=a@example.org,nobody", "valid addresses"),
        ("mailto://{{ secrets.token }}@example.org?template=/etc/passwd", "must not have the parameter"),
        ("json://****@example.org", "must be the target itself"),
        ("json://example.org/\n", "printable"),
        ("json://" + "x" * 5_000, "at most 4,096"),
    ],
)
def test_targets_are_refused_with_field_and_remedy(target: object, said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as refused:
        check_target(target, SECRETS, load_settings(), "steps[0].target")
    assert refused.value.field == "steps[0].target"
