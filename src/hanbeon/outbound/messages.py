"""The border to apprise, which sends messages through many services. It is slow to load, and blocks."""

from __future__ import annotations

import enum
import logging
import re
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hanbeon.domain.retry import NEVER_RETRIED, FailureType, failure_type_of
from hanbeon.errors import InvalidInput, MessageFailed
from hanbeon.extras import extra
from hanbeon.outbound.addresses import AddressRefused, Private, how_to_allow, only_public
from hanbeon.outbound.secrets import Destination, is_among, shown
from hanbeon.outbound.targets import (
    MAIL,
    check_parameters,
    check_scheme,
    destination_in,
    is_service,
    scheme_of,
    shape_of,
    without_secrets,
    written_destination,
)
from hanbeon.rule import Rule


class Tone(enum.StrEnum):
    """The type of a message, as Apprise names it: a service chooses a colour, an icon or a priority by it."""

    INFO = "info"
    FAILURE = "failure"


SECONDS = 60.0
"""How long a message may take unless its sender says otherwise."""
SECRET = "hanbeonsecret"
"""Stands for secrets where it is looked into what receivers see."""
LOGIN_ONLY = Rule("login_only")
_LOGGER = "apprise"
_HEARD_MOST = 1_000
_REFUSED = re.compile(r"\S+ is refused: a (.*?) address")
_STATUS = re.compile(r"error=([45][0-9]{2})\b")
_DETAILS = "Response Details"
_WEBHOOKS = frozenset(("json", "jsons", "xml", "xmls", "form", "forms"))
_parsing = threading.Lock()


def preload() -> None:
    """Load the library, which takes most of a second."""
    _parsed("json://localhost")


def check_url(url: str, schemes: str, field: str | None = None, *, complete: bool = True) -> None:
    """Reject a target whose kind or parameters are not allowed; of a complete one, also what cannot be parsed."""
    check_scheme(url, schemes, field)
    parsed = _parsed(url, field)
    if not complete:
        return
    if parsed is None:
        raise InvalidInput(Rule("target_incomplete"), field=field)
    if parsed.dropped:
        raise InvalidInput(Rule("invalid_addresses"), field=field)


def destination_of(url: str) -> Destination:
    """Return the receiver of a target, as the library reads it."""
    parsed = _parsed(url)
    return written_destination(url) if parsed is None else _destination(url, parsed.target)


def _destination(url: str, target: Any) -> Destination:
    return destination_in(url, str(_host(scheme_of(url).removesuffix("s"), target) or ""), target.port or None)


def _host(kind: str, target: Any) -> Any:
    """The host that the library connects to, which need not be the one that is written."""
    match kind:
        case "mailto":
            return target.smtp_host
        case "ntfy" if target.mode != "private":
            return "ntfy.sh"
        case "matrix" if target.mode == "t2bot":
            return "webhooks.t2bot.io"
        case "zulip":
            return f"{target.organization}.{target.hostname}"
        case _:
            return target.host


def is_seen(url: str, word: str) -> bool:
    """True if a word of a mail's target stands elsewhere than in its login: receivers see the rest.

    The user is a part of the sender's address unless `from` is one, as the library reads it.
    """
    parsed = _parsed(url)
    if parsed is None:
        return True
    from hanbeon.outbound.mail import mail_target  # It loads the libraries of mail.

    return word in str(mail_target(parsed.target, html=False)._replace(user=None, password=None))


def send_message(
    url: str,
    title: str,
    body: str,
    schemes: str,
    allow_private: Private,
    key: str | None = None,
    timeout: float = SECONDS,
    hosts: Mapping[str, Sequence[str]] | None = None,
    probe: str | None = None,
    login: str | None = None,
    tone: str = Tone.INFO.value,
) -> None:
    """Send it now; raises MessageFailed with the service's words. Errors do not contain the address.

    Attempts to send the same message have the same `key`: a mail's Message-ID, a webhook's Idempotency-Key. `hosts`:
    where the secrets in it may go, by their names; no redirect is followed with them. `probe`: the target with words
    and addresses in place of the values that were inserted, which must not have changed its shape. `login`: a mail's
    target with SECRET in place of its secrets, which receivers must not see.
    """
    title = " ".join(title.split())  # It becomes a mail's subject, where a line break would start a header.
    try:
        check_scheme(url, schemes)
        with _CapturedLog() as captured, only_public(allow_private=allow_private):
            if login is not None and is_seen(login, SECRET):
                raise InvalidInput(Rule("of_target", rule=LOGIN_ONLY))
            _send(url, title, body, key, timeout, captured, hosts or {}, probe, tone)
    except InvalidInput as error:  # It was stored before this was checked, or is a secret.
        raise MessageFailed(
            without_secrets(str(error), url), permanent=True, failure_type=FailureType.PERMISSION_ERROR
        ) from None
    except AddressRefused as error:
        raise _private(error, url) from None
    except MessageFailed as error:
        text = without_secrets(str(error), url)
        raise MessageFailed(text, permanent=error.permanent, failure_type=error.failure_type) from None
    except UnicodeError:  # Its text shows characters, maybe of a password.
        raise MessageFailed(
            "the service cannot take all characters of the target or the message",
            permanent=True,
            failure_type=FailureType.INVALID,
        ) from None
    except Exception as error:
        raise MessageFailed(without_secrets(f"{type(error).__name__}: {error}", url)) from None


def _send(
    url: str,
    title: str,
    body: str,
    key: str | None,
    timeout: float,
    captured: _CapturedLog,
    hosts: Mapping[str, Sequence[str]],
    probe: str | None,
    tone: str,
) -> None:
    parsed = _parsed(url)
    if parsed is None or parsed.dropped:
        raise MessageFailed(
            "the target cannot be parsed; it may need another version of apprise"
            if parsed is None
            else "one of its recipients is not a valid address",
            permanent=True,
            failure_type=FailureType.INVALID,
        )
    _check_hosts(hosts, _destination(url, parsed.target))
    _check_shape(url, parsed, probe)
    if hosts:
        parsed.target.redirects = False
        # A server may echo what it was sent, in a form that no mask knows; an error is seen by all.
        captured.quotes = is_service(url)
    if scheme_of(url) in MAIL:
        from hanbeon.outbound.mail import mail_target, send_mail  # It loads the libraries of mail.

        html = parsed.parameters.get("format", "").lower().startswith("html")
        send_mail(mail_target(parsed.target, html=html), title, body, key=key, timeout=timeout)
        return
    if key is not None and scheme_of(url) in _WEBHOOKS:
        parsed.target.headers.setdefault("Idempotency-Key", key)
    if not parsed.target.notify(title=title, body=body, notify_type=tone):
        if refusal := _REFUSED.search(captured.text):
            raise _private(refusal[0], url)
        status = _STATUS.search(captured.text)
        kind = failure_type_of(int(status[1])) if status else FailureType.TEMPORARY
        raise MessageFailed(captured.text or "it was not accepted", permanent=kind in NEVER_RETRIED, failure_type=kind)


def _check_hosts(hosts: Mapping[str, Sequence[str]], destination: Destination) -> None:
    for name, permitted in hosts.items():
        if permitted and not is_among(permitted, destination):
            raise MessageFailed(
                f"target must not send the secret {name} to {destination}; it may go to {shown(permitted)}",
                permanent=True,
                failure_type=FailureType.PERMISSION_ERROR,
            )


def _check_shape(url: str, parsed: _Parsed, probe: str | None) -> None:
    if probe is None:
        return
    template = _parsed(probe)
    if template is None and scheme_of(url) not in MAIL:
        return  # A service that checks the form of tokens, at a host of its own.
    problem: str | None = "must have an address or a word at each of its places; the values are neither"
    if template is not None:
        problem = shape_of(url, parsed.target, parsed.parts).problem(shape_of(probe, template.target, template.parts))
    if problem is not None:
        raise MessageFailed(f"target {problem}", permanent=True, failure_type=FailureType.INVALID)


def _private(why: object, url: str) -> MessageFailed:
    found = _REFUSED.search(str(why))
    text = without_secrets(f"{why}; {how_to_allow(found[1] if found else '')}", url)
    return MessageFailed(text, permanent=True, failure_type=FailureType.PERMISSION_ERROR)


class _Parsed(NamedTuple):
    target: Any
    parameters: dict[str, str]
    parts: Mapping[str, Any]
    dropped: bool
    """The library left out a recipient that it cannot read, which nobody would hear of."""


def _parsed(url: str, field: str | None = None) -> _Parsed | None:
    """The target, checked as Apprise itself reads it: what it takes for a parameter must be allowed."""
    with warnings.catch_warnings(), _parsing:
        warnings.simplefilter("ignore")  # From the libraries that it imports.
        with extra("messages", "a notification"):
            import apprise

        logger = logging.getLogger(_LOGGER)
        logger.propagate = False  # It logs the whole address when it cannot parse one.
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
        parts = apprise.plugins.url_to_dict(url)  # type: ignore[no-untyped-call]
        if parts is None:
            return None
        parameters = parts.get("qsd", {})
        check_parameters(url, parameters, parameters.values(), field)
        with _CapturedLog() as captured:
            target = apprise.Apprise.instantiate(url)
        dropped = "Dropped invalid" in captured.text or any("@" not in each for each in _people(url, parameters))
        return None if target is None else _Parsed(target, parameters, parts, dropped)


def _people(url: str, parameters: dict[str, str]) -> list[str]:
    """The recipients of a mail as they are written."""
    if scheme_of(url) not in MAIL:
        return []
    pieces = [piece for name in ("to", "cc", "bcc", "reply") for piece in re.split("[,;]", parameters.get(name, ""))]
    return [piece for piece in pieces if piece.strip()]


class _CapturedLog(logging.Handler):
    """Collects the log messages of the library, which raises nothing and returns only False."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.text = ""
        self.quotes = True

    def __enter__(self) -> _CapturedLog:
        logger = logging.getLogger(_LOGGER)
        self._before, self._level = logger.handlers, logger.level
        logger.handlers, logger.propagate = [self], False
        logger.setLevel(logging.DEBUG)
        return self

    def __exit__(self, *exc: object) -> None:
        logger = logging.getLogger(_LOGGER)
        logger.handlers = self._before
        logger.setLevel(self._level)

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text.startswith(_DETAILS):
            text = f"({_body(record)})" if self.quotes and _body(record) else ""
        elif text.startswith("Socket Exception: "):
            text = text.removeprefix("Socket Exception: ")
        elif record.levelno < logging.WARNING and "is refused: a " not in text:
            return
        self.text = f"{self.text} {text}".strip()[:_HEARD_MOST]


def _body(record: logging.LogRecord) -> str:
    """The beginning of a service's answer, in its own words."""
    found = record.args[0] if isinstance(record.args, tuple) and record.args else b""
    text = found.decode(errors="replace") if isinstance(found, bytes) else str(found)
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())[:300]
