"""Shape of a target: its host, the parts of its path, its parameters and its recipients, as the library reads them.

A value is inserted percent-encoded, and the library decodes it before it splits lists and paths. So the shape is
compared after that: with the value, and with a plain word or address in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from hanbeon.outbound.targets import MAIL, scheme_of

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
