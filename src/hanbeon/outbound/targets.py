"""Notification targets: allowed kinds, their shape, and how one is shown without its passwords and tokens."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from hanbeon.domain.masks import MASK, address_parts, is_host, mask_values
from hanbeon.errors import InvalidInput
from hanbeon.outbound.origin import split_url
from hanbeon.outbound.secrets import Destination
from hanbeon.quotation import quoted
from hanbeon.rule import Rule

# Kinds whose host is a server, and not the first of several tokens.
_WITH_HOST = frozenset(
    name + secure
    for name in ("mailto", "json", "xml", "form", "gotify", "matrix", "mmost", "rocket", "apprise")
    for secure in ("", "s")
)
MAIL = frozenset({"mailto", "mailtos"})
_SERVICES = frozenset(("slack", "discord", "gchat", "tgram", "pover", "pagerduty", "opsgenie", "line", "lark", "webex"))
"""Kinds that always go to the service's own hosts."""
_TO_HOST = _WITH_HOST | {"workflows", "ntfy", "ntfys", "zulip"}
_OPEN = frozenset(("bcc", "cc", "format", "from", "method", "mode", "name", "port", "reply", "smtp", "to", "verify"))
"""Parameters whose values are no secrets."""
# Parameters of targets by kind, without those that name local files (`template`, `pgpprv`, `pgppub`, `attach` …), use
# keys of the sending machine (`pgp`, `wkd`, `e2ee`) or store something there (`store`). Apprise adds new ones with its
# releases: what is not known here is rejected.
_COMMON = frozenset(
    ("cto", "emojis", "format", "optional", "overflow", "pass", "password", "port", "redirect", "retry", "rto", "tz")
) | {"user", "verify", "wait"}
_PARAMETERS = {
    kind: frozenset(names.split())
    for kind, names in {
        "mailto": "bcc cc from inline mode name reply smtp to",
        "json": "method",
        "xml": "method",
        "form": "method",
        "slack": "blocks footer image mode timestamp to token",
        "discord": "avatar avatar_url batch fields flags footer footer_logo href image ping thread tts url",
        "workflows": "api-version id image pa powerautomate route routeid sig ver wrap",
        "gchat": "key thread token workspace",
        "tgram": "album content detect image mdv preview silent thread to topic",
        "mmost": "botname channel channels icon_url image mode team to",
        "rocket": "avatar mode to webhook",
        "matrix": "discovery hsreq image mode msgtype path to token version",
        "ntfy": "actions auth avatar_url click delay email image mode priority to token xtags",
        "gotify": "priority",
        "pover": "expire interval key priority sound to url url_title",
        "pagerduty": "action class click dedup group image region severity",
        "opsgenie": "action alias batch entity priority region tags to",
        "line": "image to",
        "webex": "mode to token",
        "zulip": "to token",
    }.items()
}


def scheme_of(url: str) -> str:
    return url.partition("://")[0].lower()


def check_scheme(url: str, allowed: str, field: str | None = None) -> None:
    """Reject kinds that are not on the list: some run programs or write files on the sending machine."""
    if scheme_of(url) not in allowed.split():
        raise InvalidInput(
            Rule("scheme_not_allowed", got=quoted(scheme_of(url)), choices=sorted(allowed.split())),
            field=field,
        )


def is_service(url: str) -> bool:
    """True if the kind of a target determines its hosts."""
    return scheme_of(url) in _SERVICES


def destination_in(url: str, host: str, port: int | None) -> Destination:
    """Return the receiver of a target: this host, or the kind where the host is the service's own.

    Of a kind that is not known here the host may be a token, and it may go anywhere: no declaration permits it.
    """
    kind = scheme_of(url)
    if is_service(url):
        return Destination(f"{kind}://")
    if kind in _TO_HOST:
        with contextlib.suppress(InvalidInput):
            return Destination(split_url(f"https://{host}", "host")[0].host, port)
    return Destination(f"{kind}://{host}", port)


def written_destination(url: str) -> Destination:
    """Return the receiver of a target as it is written, for one that is not complete."""
    return destination_in(url, address_parts(url)[2].rpartition(":")[0] or address_parts(url)[2], None)


def check_parameters(url: str, names: Iterable[str], values: Iterable[str], field: str | None = None) -> None:
    """Reject parameters that are not on the list of the target's kind: `template` or `pgpprv` read local files."""
    kind = scheme_of(url)
    allowed = _COMMON | _PARAMETERS.get(kind.removesuffix("s"), frozenset()) | _PARAMETERS.get(kind, frozenset())
    # With such a sign it is a header, or a field of what is sent.
    refused = sorted(name for name in set(names) - allowed if not name.startswith(("+", "-", ":")))
    if refused:
        shown = ", ".join(quoted(name) for name in refused[:5])
        raise InvalidInput(
            Rule("parameter_not_allowed", got=shown, choices=sorted(allowed)),
            field=field,
        )
    if any(value.strip().lower().startswith("file:") for value in values):
        raise InvalidInput(Rule("no_file_parameter"), field=field)


def masked(url: str) -> str:
    """Mask a target: its kind, and for a server its name and the user's. Rather too little than too much."""
    scheme, user, host, path, rest = address_parts(url)
    # Another @ further on: what looks like the host may be the half of a password.
    if scheme not in _WITH_HOST or not is_host(host) or "@" in (path + rest).partition("=")[0]:
        return f"{scheme}://{MASK}"
    name, colon, _ = user.partition(":")
    shown = f"{scheme}://"
    if user:
        shown += f"{name}:{MASK}@" if colon else f"{name}@"
    return shown + host + (f"/{MASK}" if path.strip("/") else "") + (f"?{MASK}" if rest else "")


def without_secrets(text: str, url: str) -> str:
    """Mask the secrets of a target in a message about it, as the target writes them and as a service reads them."""
    scheme, user, host, path, rest = address_parts(url)
    hidden = [user, *user.split(":")[1:]]
    if scheme not in MAIL:  # Those of a mail are people: whom a server refused must be said.
        hidden += re.split(r"[/,]+", path)
    for part in re.split(r"[?&#]+", rest):
        name, equals, value = part.partition("=")
        if name not in _OPEN:
            hidden += [value if equals else name, *value.split(",")]
    if scheme not in _WITH_HOST:
        hidden += [host, *host.split(":"), *user.split(":")]
    text = text.replace(url, masked(url))
    return mask_values(text, (form for each in hidden if len(each) > 2 for form in (each, unquote(each))))


PROBE = "hanbeonprobe"
"""Stands for a value; in a host it stands for any."""


class Shape(NamedTuple):
    """`fixed` must be equal; of `recipients`, by kind, there may be fewer: two values may be the same address."""

    host: str
    fixed: tuple[Any, ...]
    recipients: tuple[int, ...]

    def problem(self, template: Shape) -> str | None:
        """Return how it differs from that of its template."""
        for most, found in zip(template.recipients, self.recipients, strict=False):
            if found > most:
                noun = "recipient" if most == 1 else "recipients"
                return f"must have {most} {noun}, as its template has, got {found}; insert one address at each place"
        same_host = PROBE in template.host or self.host == template.host
        if not same_host or self.fixed != template.fixed or len(self.recipients) != len(template.recipients):
            return "must have the parts of its template; a value must add no host, path or parameter"
        return None


def shape_of(url: str, target: Any, parts: Mapping[str, Any]) -> Shape:
    """Return the shape of a target that the library has read as these parts."""
    path = unquote(str(getattr(target, "fullpath", None) or parts.get("fullpath") or ""))
    dots = sum(unquote(each) in (".", "..") for each in path.split("/"))
    names = tuple(sorted(parts.get("qsd") or {}))
    fixed = (scheme_of(url), target.port, bool(target.user), names, dots, *(path.count(each) for each in "/?#"))
    if scheme_of(url) not in MAIL:
        return Shape((target.host or "").lower(), fixed, (len(target),))
    from hanbeon.outbound.mail import mail_target  # It loads the libraries of mail.

    mail = mail_target(target, html=False)
    people = tuple(len(each) for each in (mail.to, mail.cc, mail.bcc, mail.reply_to))
    return Shape((target.smtp_host or "").lower(), (scheme_of(url), target.port, names), people)
