"""What an office is made and changed with, and its sessions; `listening` reads whom it tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hanbeon.surfaces.validation import inside, table, text

DEFAULT_SESSION = "default"
CREATED_WITH = ("name", "config", "sessions", "notifications", "webhooks")
CHANGED_WITH = ("name", "sessions", "notifications", "webhooks")

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
