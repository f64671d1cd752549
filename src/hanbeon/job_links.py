"""Links from a job to other tools, such as Sentry, logs or traces: templates, filled with its values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote

from hanbeon.quotation import quoted
from hanbeon.rule import Rule

VALUES = ("id", "task", "queue", "role", "attempt", "work_item")
"""What may stand in braces in a template."""
_EXAMPLE = "Logs=https://logs.example.org/?q={id}"
_LINK = re.compile(r"([^\s=]{1,40})=(https?://[^\s/?#@\\]+(?:[/?#][^\s\\]*)?)")
_PLACE = re.compile(r"\{([^{}]*)\}")


class JobLink(NamedTuple):
    name: str
    template: str

    def url(self, values: Mapping[str, object]) -> str:
        """Return the address with these values, encoded so that none can leave its place."""
        return _PLACE.sub(
            lambda place: quote("" if (value := values[place[1]]) is None else str(value), safe=""), self.template
        )


def links_of(text: str) -> list[JobLink]:
    """Read links as `Name=https://…{id}…` with spaces between; ValueError has the rule that one breaks."""
    return [_link(each) for each in text.split()]


def _link(text: str) -> JobLink:
    found = _LINK.fullmatch(text)
    if found is None:
        raise ValueError(Rule("setting_job_link", example=_EXAMPLE, got=quoted(text)))
    name, template = found.groups()
    host = template.partition("://")[2].partition("/")[0]
    unknown = [each for each in _PLACE.findall(template) if each not in VALUES]
    # With a value in the host, the name of a task would choose the site.
    if unknown or any(brace in part for brace in "{}" for part in (host, _PLACE.sub("", template))):
        raise ValueError(Rule("setting_job_link_value", choices=VALUES, got=quoted(text)))
    return JobLink(name.replace("_", " "), template)
