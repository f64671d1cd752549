"""What an office is made and changed with: its name, its sessions, and whom to tell."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Mapping
from typing import Any

from hanbeon.errors import InvalidInput
from hanbeon.surfaces.offices.reading import inside, items, table, text
from hanbeon.surfaces.offices.vocabulary import EventType
from hanbeon.tasks.options import did_you_mean

DEFAULT_SESSION = "default"
CREATED_WITH = ("name", "config", "sessions", "notifications", "webhooks")
CHANGED_WITH = ("name", "sessions", "notifications", "webhooks")
_TARGETS_MOST = 50
_URL_MOST = 2_000
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE | re.ASCII)
_HTTP = re.compile(r"https?://[^\s/?#]+\S*", re.IGNORECASE | re.ASCII)

Check = Callable[[str, str], None]
"""Refuses a task that cannot run jobs of a role: (task, role), an empty role being any."""


def sessions(before: Mapping[str, str], told: Any, check: Check) -> dict[str, str]:
    """Tasks by role, merged: null takes a role's away, what is not named stays."""
    after = dict(before)
    for role, task in table(told, "", field="sessions").items():
        with inside("sessions"):
            role = text(role, "role")
            if task is None:
                after.pop(role, None)
                continue
            with inside(role):
                task = text(task, "handler")
                check(task, "" if role == DEFAULT_SESSION else role)
                after[role] = task
    return after


def notifications(told: Any) -> list[str]:
    """Addresses of people. Who sends to them knows which kinds it can; here they only have to be addresses."""
    found = []
    for number, each in enumerate(items(told, "notifications", _TARGETS_MOST)):
        # It may hold a token: what is refused is not quoted.
        if not _is_address(each, _ADDRESS):
            raise InvalidInput("use an address like mailto://… or slack://…", field=f"notifications[{number}]")
        found.append(each)
    return found


def webhooks(told: Any) -> list[dict[str, Any]]:
    return [_webhook(each, f"webhooks[{number}]") for number, each in enumerate(items(told, "webhooks", _TARGETS_MOST))]


def _webhook(told: Any, place: str) -> dict[str, Any]:
    with inside(place):
        hook = table(told, "a webhook", ("url", "secret", "events"))
        url = hook.get("url")
        if not _is_address(url, _HTTP):
            raise InvalidInput("use an address like https://example.org/hook", field="url")
        if "secret" not in hook:
            raise InvalidInput("it is missing; what is sent is signed with it", field="secret")
        if not isinstance(hook["secret"], str):
            raise InvalidInput("use text", field="secret")
        found = {"url": url, "secret": text(hook["secret"], "secret")}
        if hook.get("events") is not None:
            found["events"] = [_event(each) for each in items(hook["events"], "events", len(EventType))]
        return found


def _is_address(told: Any, form: re.Pattern[str]) -> bool:
    return isinstance(told, str) and len(told) <= _URL_MOST and told.isprintable() and bool(form.fullmatch(told))


def _event(told: Any) -> str:
    known = list(EventType)
    if told not in known:
        hint = did_you_mean(str(told)[:40], known) or "."
        raise InvalidInput(f"{reprlib.repr(told)} is no event{hint} There are {', '.join(known)}", field="events")
    return str(told)
