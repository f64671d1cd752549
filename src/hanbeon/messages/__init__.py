"""Messages: one message to one target, sent or refused with words that hold no secret."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec

from hanbeon.domain.templates import TemplateError, render
from hanbeon.errors import InvalidInput, TaskError
from hanbeon.outbound.messages import send_message
from hanbeon.outbound.targets import check_scheme, without_secrets
from hanbeon.settings import Settings


class Message(msgspec.Struct, frozen=True):
    """`target`: an Apprise URL, in which `{{ secrets.NAME }}` stands for a declared secret."""

    target: str
    title: str
    body: str


class MessageFailed(Exception):
    """A message that was not sent. The text holds no secret; `permanent`: another try would fail as well."""

    def __init__(self, message: str, *, permanent: bool = False) -> None:
        super().__init__(message)
        self.permanent = permanent


def check_target(target: str, allowed: str) -> None:
    check_scheme(target, allowed)


async def send(message: Message, secrets: Mapping[str, str], outbound: Settings, timeout: float) -> None:
    try:
        url = render(message.target, {"secrets": secrets})
    except TemplateError as error:
        raise MessageFailed(str(error), permanent=True) from None
    try:
        async with asyncio.timeout(timeout):
            await asyncio.to_thread(
                send_message,
                url,
                message.title,
                message.body,
                outbound.message_schemes,
                outbound.outbound_allow_private,
            )
    except TimeoutError:
        raise MessageFailed(f"it was not accepted within {timeout:g} s") from None
    except InvalidInput as error:
        raise MessageFailed(without_secrets(str(error), url), permanent=True) from None
    except TaskError as error:
        raise MessageFailed(without_secrets(str(error), url), permanent=error.permanent) from None
