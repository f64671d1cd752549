"""How an office runs its jobs: the seed's names and defaults, and what was set on top of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hanbeon.domain.job import LONGEST_US, RETRIES_MAX
from hanbeon.domain.retry import Backoff
from hanbeon.errors import InvalidInput
from hanbeon.surfaces.validation import inside, table, text, whole
from hanbeon.tasks.options import one_of

_MINUTE_MS = 60_000
LONGEST_MS = LONGEST_US // 1_000
LIMIT_MAX = 2**31 - 1
ROLE_LIMITS = {"FE": 1, "BE": 1, "QA": 1, "DevOps": 1}
ROLE_TIMEOUTS_MS = {
    "PO": 15 * _MINUTE_MS,
    "Architect": 20 * _MINUTE_MS,
    "FE": 30 * _MINUTE_MS,
    "BE": 30 * _MINUTE_MS,
    "QA": 45 * _MINUTE_MS,
    "DevOps": 20 * _MINUTE_MS,
}
BY_ROLE = "maxConcurrentByRole"


class JobSchedulerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What is in force: what was set, and the defaults for the rest. Times are milliseconds."""

    maxConcurrentJobs: int = 3
    maxConcurrentByRole: dict[str, int] = msgspec.field(default_factory=lambda: dict(ROLE_LIMITS))
    defaultTimeout: int = 30 * _MINUTE_MS
    maxRetries: int = 2
    retryBackoff: Backoff = Backoff.EXPONENTIAL
    retryBaseDelay: int = _MINUTE_MS

    @property
    def limits(self) -> dict[str, Any]:
        """The same as limits of the office's queue."""
        return {"max_concurrent": self.maxConcurrentJobs, "roles": dict(self.maxConcurrentByRole)}


_LOWEST_HIGHEST = {
    "maxConcurrentJobs": (1, LIMIT_MAX),
    "defaultTimeout": (1, LONGEST_MS),
    "maxRetries": (0, RETRIES_MAX),
    "retryBaseDelay": (0, LONGEST_MS),
}
Explicit = Mapping[str, Any]
"""Settings that somebody has set; a role whose limit was removed is there with None."""


def merged(explicit: Explicit, told: Any) -> dict[str, Any]:
    """What is set once these changes are made; whatever they do not name stays."""
    with inside("config"):
        changes = table(told, "the config of an office", JobSchedulerConfig.__struct_fields__)
        after = dict(explicit)
        for name, value in changes.items():
            after[name] = {**after.get(name, {}), **_roles(value)} if name == BY_ROLE else _value(name, value)
        return after


def in_force(explicit: Explicit) -> JobSchedulerConfig:
    """The defaults, with what was set on top."""
    roles = {**ROLE_LIMITS, **explicit.get(BY_ROLE, {})}
    limited = {role: limit for role, limit in roles.items() if limit is not None}
    return msgspec.convert({**explicit, BY_ROLE: limited}, JobSchedulerConfig)


def timeout_ms(explicit: Explicit, role: str) -> int:
    """For a job that says nothing itself and whose handler does not either."""
    config = in_force(explicit)
    if "defaultTimeout" in explicit:
        return config.defaultTimeout
    return ROLE_TIMEOUTS_MS.get(role, config.defaultTimeout)


def _value(name: str, value: Any) -> Any:
    if name == "retryBackoff":
        return one_of(value, list(Backoff), name)
    return whole(value, name, *_LOWEST_HIGHEST[name])


def _roles(told: Any) -> dict[str, int | None]:
    """Limits by role; None takes a role's limit away."""
    if told is None:
        raise InvalidInput('name the roles whose limits are to go: {"FE": null}', field=BY_ROLE)
    limits = {}
    for role, limit in table(told, "", field=BY_ROLE).items():
        with inside(BY_ROLE):
            role = text(role, "role")
            limits[role] = None if limit is None else whole(limit, role, 1, LIMIT_MAX)
    return limits
