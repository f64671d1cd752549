"""Whom an office tells, as a client says it: webhooks and targets of notifications, those that are known recognised."""

from __future__ import annotations

import base64
import binascii
import contextlib
import re
import reprlib
from collections.abc import Sequence
from typing import Any

import msgspec
import uuid_utils

from hanbeon.domain.delivery import ListenerKind
from hanbeon.errors import InvalidInput
from hanbeon.outbound.addresses import HOW_TO_ALLOW, why_not_public
from hanbeon.outbound.origin import split_url
from hanbeon.outbound.targets import MASK, check_scheme, masked
from hanbeon.settings import Settings
from hanbeon.store.operations.listeners import ListenerRecord
from hanbeon.surfaces.offices.vocabulary import EventType
from hanbeon.surfaces.validation import inside, items, table, text
from hanbeon.tasks.options import did_you_mean

PREFIX = "whsec_"
MOST = 50
_URL_MOST = 2_000
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}", re.ASCII)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S*", re.IGNORECASE | re.ASCII)
_SECRET_BYTES = range(24, 65)
"""What Standard Webhooks asks for: fewer could be guessed, and libraries may refuse more."""
_HOW = f"use base64 of 24 to 64 random bytes: {PREFIX}$(openssl rand -base64 24)"

Known = Sequence[ListenerRecord]


def webhooks(told: Any, office_id: str, known: Known, settings: Settings) -> list[ListenerRecord]:
    """The webhooks as they are to be. One that names the id or the address of a known one is that one."""
    left = [each for each in known if each.kind is ListenerKind.WEBHOOK]
    found = []
    for place, each in enumerate(items(told, "webhooks", MOST)):
        with inside(f"webhooks[{place}]"):
            found.append(_webhook(each, place, office_id, left, settings))
    return found


def _webhook(told: Any, place: int, office_id: str, left: list[ListenerRecord], settings: Settings) -> ListenerRecord:
    hook = table(told, "a webhook", ("id", "url", "secret", "events"))
    known = _known(hook, left)
    url = _http_address(hook["url"] if "url" in hook or known is None else known.url, settings)
    secret = None if known is None else known.secret
    if hook.get("secret") is not None:
        secret = _secret(hook["secret"])
    if secret is None:
        raise InvalidInput(f"it is missing; what is sent is signed with it: {_HOW}", field="secret")
    events = None
    if hook.get("events") is not None:
        events = list(dict.fromkeys(_event(each) for each in items(hook["events"], "events", len(EventType))))
    blank = known or _new(ListenerKind.WEBHOOK, office_id)
    return msgspec.structs.replace(blank, place=place, url=url, secret=secret, events=events)


def _known(hook: dict[str, Any], left: list[ListenerRecord]) -> ListenerRecord | None:
    """The one that is meant, which nobody else can be then."""
    if hook.get("id") is not None:
        found = next((each for each in left if each.id == hook["id"]), None)
        if found is None:
            raise InvalidInput(
                f"{reprlib.repr(hook['id'])} is no webhook of this office, or named twice; leave it out for a new one",
                field="id",
            )
    else:
        if "url" not in hook:
            raise InvalidInput("it is missing; use an address like https://example.org/hook", field="url")
        found = next((each for each in left if each.url == hook["url"]), None)
    if found is not None:
        left.remove(found)
    return found


def _http_address(told: Any, settings: Settings) -> str:
    if not isinstance(told, str) or len(told) > _URL_MOST or not told.isprintable():
        raise InvalidInput("use an address like https://example.org/hook", field="url")
    origin, rest = split_url(told, "url")
    if not rest.isascii():
        raise InvalidInput("write what is not ASCII as %XX", field="url")
    with contextlib.suppress(ValueError):  # Of a name, it is found out when something is sent there.
        kind = None if settings.outbound_allow_private else why_not_public(origin.host)
        if kind is not None:
            raise InvalidInput(
                f"{origin.host} is refused: a {kind} address; {HOW_TO_ALLOW}",
                field="url",
            )
    return told


def _secret(told: Any) -> str:
    """What signatures are made with, as libraries for Standard Webhooks read it. What is refused is not quoted."""
    secret = text(told, "secret") if isinstance(told, str) else ""
    coded = secret.removeprefix(PREFIX)
    if not _BASE64.fullmatch(coded):
        raise InvalidInput(f"it cannot be read; {_HOW}", field="secret")
    try:
        size = len(base64.b64decode(coded.rstrip("=") + "=="))
    except binascii.Error:
        raise InvalidInput(f"it cannot be read; {_HOW}", field="secret") from None
    if size not in _SECRET_BYTES:
        raise InvalidInput(f"it is of {size} bytes; {_HOW}", field="secret")
    return secret


def _event(told: Any) -> str:
    known = list(EventType)
    if told not in known:
        hint = did_you_mean(str(told)[:40], known) or "."
        raise InvalidInput(f"{reprlib.repr(told)} is no event{hint} There are {', '.join(known)}", field="events")
    return str(told)


def notifications(told: Any, office_id: str, known: Known, settings: Settings) -> list[ListenerRecord]:
    """The targets as they are to be. The address of a known one, masked as it is shown, means that one."""
    left = [each for each in known if each.kind is ListenerKind.NOTIFICATION]
    found = []
    for place, each in enumerate(items(told, "notifications", MOST)):
        blank = _known_target(each, left, f"notifications[{place}]")
        if blank is None:
            url = _target(each, f"notifications[{place}]", settings)
            blank = msgspec.structs.replace(_new(ListenerKind.NOTIFICATION, office_id), url=url)
        found.append(msgspec.structs.replace(blank, place=place))
    return found


def _known_target(told: Any, left: list[ListenerRecord], field: str) -> ListenerRecord | None:
    found = next((each for each in left if told in (each.url, masked(each.url))), None)
    if found is not None:
        left.remove(found)
    elif isinstance(told, str) and MASK in told:
        raise InvalidInput(
            "it is masked, and no target of this office is shown so; give the whole address", field=field
        )
    return found


def _target(told: Any, field: str, settings: Settings) -> str:
    # It may hold a password: what is refused is not quoted.
    fits = isinstance(told, str) and len(told) <= _URL_MOST and told.isprintable() and _ADDRESS.fullmatch(told)
    if not fits:
        raise InvalidInput("use an address like mailto://… or slack://…", field=field)
    check_scheme(told, settings.message_schemes, field)
    return str(told)


def _new(kind: ListenerKind, office_id: str) -> ListenerRecord:
    return ListenerRecord(id=str(uuid_utils.uuid7()), office_id=office_id, kind=kind, place=0, url="")
