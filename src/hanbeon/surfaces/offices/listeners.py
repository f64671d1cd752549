"""Webhooks and notification targets of an office, from requests; known ones are recognised and kept."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import msgspec
from msgspec import UNSET

from hanbeon.domain.masks import MASK
from hanbeon.errors import InvalidInput
from hanbeon.ids import new_id
from hanbeon.outbound.addresses import how_to_allow, why_refused
from hanbeon.outbound.origin import split_url
from hanbeon.outbound.targets import check_scheme, masked
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.settings import Settings
from hanbeon.surfaces.offices.delivery.rules import ListenerKind
from hanbeon.surfaces.offices.listener_rows import ListenerRecord
from hanbeon.surfaces.offices.schemas import AN_ADDRESS, HOW_TO_MAKE_A_SECRET, WebhookBody, WebhookChange
from hanbeon.surfaces.offices.webhook_secret import signing_key
from hanbeon.surfaces.validation import inside, or_default

Known = Sequence[ListenerRecord]


def webhooks(
    given: Sequence[WebhookBody | WebhookChange], office_id: str, known: Known, settings: Settings
) -> list[ListenerRecord]:
    """The webhooks after a change. One with the id or the address of a known webhook is that one."""
    left = [each for each in known if each.kind is ListenerKind.WEBHOOK]
    found = []
    for position, each in enumerate(given):
        with inside(f"webhooks[{position}]"):
            found.append(_webhook(each, position, office_id, left, settings))
    return found


def _webhook(
    hook: WebhookBody | WebhookChange, position: int, office_id: str, left: list[ListenerRecord], settings: Settings
) -> ListenerRecord:
    known = _known(hook, left)
    url = _http_address(or_default(hook.url, "" if known is None else known.url), settings)
    new_secret = or_default(hook.secret, None)
    secret = None if known is None else known.secret
    if new_secret is not None:
        signing_key(new_secret)
        secret = new_secret
    if secret is None:
        raise InvalidInput(Rule("signing_secret_required", how=HOW_TO_MAKE_A_SECRET), field="secret")
    events = or_default(hook.events, None)
    blank = known or _new(ListenerKind.WEBHOOK, office_id)
    return msgspec.structs.replace(
        blank,
        position=position,
        url=url,
        secret=secret,
        events=None if events is None else list(dict.fromkeys(each.value for each in events)),
    )


def _known(hook: WebhookBody | WebhookChange, left: list[ListenerRecord]) -> ListenerRecord | None:
    """The known webhook that is meant. It is removed from `left`, so that no other can be the same."""
    hook_id = or_default(hook.id, None) if isinstance(hook, WebhookChange) else None
    if hook_id is not None:
        found = next((each for each in left if each.id == hook_id), None)
        if found is None:
            raise InvalidInput(
                Rule("webhook_id", got=quoted(hook_id)),
                field="id",
            )
    else:
        if hook.url is UNSET:
            raise InvalidInput(Rule("required", what=AN_ADDRESS), field="url")
        found = next((each for each in left if each.url == hook.url), None)
        if found is None and MASK in hook.url:
            raise InvalidInput(Rule("address_masked"), field="url")
    if found is not None:
        left.remove(found)
    return found


def _http_address(url: str, settings: Settings) -> str:
    if not url.isprintable():
        raise InvalidInput(Rule("must_be", what=AN_ADDRESS), field="url")
    origin, rest = split_url(url, "url")
    if not rest.isascii():
        raise InvalidInput(Rule("url_not_ascii"), field="url")
    with contextlib.suppress(ValueError):  # The address of a name is checked when something is sent there.
        kind = why_refused(origin.host, settings.outbound_private)
        if kind is not None:
            raise InvalidInput(
                Rule("host_not_allowed", host=origin.host, kind=kind, how=how_to_allow(kind)),
                field="url",
            )
    return url


def notifications(given: Sequence[str], office_id: str, known: Known, settings: Settings) -> list[ListenerRecord]:
    """The targets after a change. The address of a known one, masked as it is shown, means that one."""
    left = [each for each in known if each.kind is ListenerKind.NOTIFICATION]
    found = []
    for position, each in enumerate(given):
        blank = _known_target(each, left, f"notifications[{position}]")
        if blank is None:
            url = _target(each, f"notifications[{position}]", settings)
            blank = msgspec.structs.replace(_new(ListenerKind.NOTIFICATION, office_id), url=url)
        found.append(msgspec.structs.replace(blank, position=position))
    return found


def _known_target(given: str, left: list[ListenerRecord], field: str) -> ListenerRecord | None:
    found = next((each for each in left if given in (each.url, masked(each.url))), None)
    if found is not None:
        left.remove(found)
    elif MASK in given:
        raise InvalidInput(Rule("target_masked_unknown"), field=field)
    return found


def _target(given: str, field: str, settings: Settings) -> str:
    # It may hold a password: errors do not quote it.
    if not given.isprintable():
        raise InvalidInput(Rule("must_be", what=Rule("notify_address")), field=field)
    check_scheme(given, settings.message_schemes, field)
    return given


def _new(kind: ListenerKind, office_id: str) -> ListenerRecord:
    return ListenerRecord(id=new_id(), office_id=office_id, kind=kind, position=0, url="")
