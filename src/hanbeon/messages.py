"""Messages to people and services: `mailto://…`, `json://…`, `slack://…` and the other targets of Apprise.

In a target, `{{ secrets.NAME }}` stands for a declared secret. A target without `://` is the name of a secret that
holds the whole target.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec

from hanbeon.domain import templates
from hanbeon.domain.masks import MASK
from hanbeon.domain.retry import FailureType
from hanbeon.domain.templates import TemplateError
from hanbeon.errors import ExtraMissing, InvalidInput
from hanbeon.errors import MessageFailed as MessageFailed
from hanbeon.extras import check_extra
from hanbeon.outbound.messages import LOGIN_ONLY, SECONDS, SECRET, check_url, destination_of, is_seen
from hanbeon.outbound.messages import Tone as Tone
from hanbeon.outbound.secrets import PREFIX, TARGET_USE, Secrets
from hanbeon.outbound.sender_pool import SenderPool
from hanbeon.outbound.targets import MAIL, masked, scheme_of
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.settings import Settings

TARGET_MOST = 4_096
_SEPARATOR = "://"
_PROBE = "secret"


class Message(msgspec.Struct, frozen=True):
    """A message, its title and body rendered, its target with the names of secrets."""

    target: str
    title: str
    body: str
    probe: str | None = None
    """The target with words and addresses in place of the values in it, where there are any."""
    tone: Tone = Tone.INFO


def check_target(target: Any, secrets: Secrets, settings: Settings, field: str | None = None) -> None:
    """Reject a target that cannot be parsed, whose kind is not allowed or that names an undeclared secret.

    No secret is read. Loads Apprise the first time: on an event loop, call it in a thread.
    """
    if not isinstance(target, str) or not target:
        raise InvalidInput(Rule("must_be", what=Rule("target_text")), field=field)
    if len(target) > TARGET_MOST or not target.isprintable():
        raise InvalidInput(Rule("must_be", what=Rule("printable", most=TARGET_MOST)), field=field)
    if _SEPARATOR not in target:
        secrets.check_name(target, field)
        return
    if MASK in target:
        raise InvalidInput(Rule("target_masked", mask=MASK), field=field)
    try:
        templates.check(target, [f"{PREFIX}.{name}" for name in secrets.names])
        named = dict.fromkeys(secrets.names, _PROBE)
        probe = templates.render(target, {PREFIX: named}, most=TARGET_MOST)
    except TemplateError as error:
        raise InvalidInput(error.rule, field=field) from None
    # A service may check the form of a token, which a probe cannot have: what is complete shows when it is sent.
    check_url(probe, settings.message_schemes, field, complete=probe == target)


def secret_names(text: str) -> list[str]:
    """Return the secrets that a template names."""
    found = [name.partition(".") for name in templates.variables(text)]
    return [name for prefix, _, name in found if prefix == PREFIX]


def shown_target(target: str) -> str:
    """Return a target without its passwords and tokens; the name of a secret is none."""
    return masked(target) if _SEPARATOR in target else target


def _login(target: str, names: list[str]) -> str | None:
    """The target of a mail with the word SECRET for its secrets, if it has any."""
    if not names or _SEPARATOR not in target or scheme_of(target) not in MAIL:
        return None
    return templates.render(target, {PREFIX: dict.fromkeys(names, SECRET)})


class Messenger:
    """Sends the messages of an App. Nothing blocks the event loop; close it when the App closes."""

    def __init__(self, settings: Settings, secrets: Secrets) -> None:
        self.settings, self.secrets = settings, secrets
        self._pool: SenderPool | None = None

    def check_target(self, target: Any, field: str | None = None) -> None:
        check_target(target, self.secrets, self.settings, field)

    def check_secrets(self, target: str, *, trusted: bool = True, field: str | None = None) -> None:
        """Reject a target whose secrets must not go where it goes. `trusted`: an admin has saved it."""
        if _SEPARATOR not in target:
            self.secrets.check_use(target, TARGET_USE, None, trusted=trusted, whole=True, field=field)
            return
        names = secret_names(target)
        if not names:
            return
        destination = destination_of(templates.render(target, {PREFIX: dict.fromkeys(names, _PROBE)}))
        for name in names:
            self.secrets.check_use(name, TARGET_USE, destination, trusted=trusted, field=field)
        if not trusted and (login := _login(target, names)) is not None and is_seen(login, SECRET):
            raise InvalidInput(Rule("login_only_move", rule=LOGIN_ONLY, names=names), field=field)

    async def send(
        self, message: Message, *, timeout: float = SECONDS, key: str | None = None, trusted: bool = True
    ) -> None:
        """Send a message; raises MessageFailed with the service's own words, masked.

        `trusted`: an admin has saved its target, which then may use secrets that declare no hosts.

        `key` is the same in every attempt to send it: receivers can tell a repetition by it. Private addresses are
        refused unless `[outbound] allow_private = true`.
        """
        try:
            check_extra("messages", "a notification", "apprise")  # Here: its process could only end.
        except ExtraMissing as error:
            raise MessageFailed(str(error)) from None
        url, used = self._url(message.target, trusted=trusted)
        request = {
            "url": url,
            "title": message.title,
            "body": message.body,
            "tone": message.tone.value,
            "schemes": self.settings.message_schemes,
            "allow_private": self.settings.outbound_private,
            "key": key,
            "probe": None if message.probe is None else self._url(message.probe, trusted=trusted)[0],
            "hosts": {name: self.secrets.hosts_of(name) for name in used},
            # Again: a value that was inserted may have made the login a part of the sender's address.
            "login": None if trusted else _login(message.target, used),
        }
        self._pool = self._pool or SenderPool()
        try:
            await self._pool.send(request, timeout)
        except MessageFailed as error:
            text = self.secrets.mask(str(error))
            raise MessageFailed(text, permanent=error.permanent, failure_type=error.failure_type) from None

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    def _url(self, target: str, *, trusted: bool) -> tuple[str, list[str]]:
        """The target with its secrets, and their names. Quoted, a value cannot change what the target is beside it."""
        try:
            return self._read(target, trusted=trusted)
        except InvalidInput as error:
            raise MessageFailed(f"target {error}", permanent=True, failure_type=FailureType.PERMISSION_ERROR) from None
        except TemplateError as error:
            raise MessageFailed(str(error), permanent=True, failure_type=FailureType.INVALID) from None

    def _read(self, target: str, *, trusted: bool) -> tuple[str, list[str]]:
        if _SEPARATOR not in target:
            url = self.secrets.read(target)
            self.secrets.check_use(target, TARGET_USE, None, trusted=trusted, whole=True)
            if _SEPARATOR not in url:
                raise MessageFailed(
                    f"the secret {quoted(target)} must be a target like mailto://…",
                    permanent=True,
                    failure_type=FailureType.INVALID,
                )
            # Where it goes is its own matter, unless it declares hosts.
            return url, [target] if self.secrets.hosts_of(target) else []
        names = secret_names(target)
        for name in names:
            self.secrets.check_use(name, TARGET_USE, None, trusted=trusted)
        named = {name: self.secrets.read(name) for name in names}
        return templates.render(target, {PREFIX: named}, encode=lambda value: quote(value, safe="")), names
