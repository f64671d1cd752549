"""Settings of an office: changes merged into what was set before, and the defaults for the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hanbeon.surfaces.offices.schemas import ROLE_LIMITS, ConfigChange, JobSchedulerConfig
from hanbeon.surfaces.validation import given_fields

_MINUTE_MS = 60_000
ROLE_TIMEOUTS_MS = {
    "PO": 15 * _MINUTE_MS,
    "Architect": 20 * _MINUTE_MS,
    "FE": 30 * _MINUTE_MS,
    "BE": 30 * _MINUTE_MS,
    "QA": 45 * _MINUTE_MS,
    "DevOps": 20 * _MINUTE_MS,
}
BY_ROLE = "maxConcurrentByRole"

Explicit = Mapping[str, Any]
"""Settings that were set explicitly; a role whose limit was removed is present with None."""


def merged(explicit: Explicit, changes: ConfigChange) -> dict[str, Any]:
    """The settings after a change; those that it does not name stay."""
    after = dict(explicit)
    for name, value in given_fields(changes).items():
        after[name] = _merged_roles(after.get(name, {}), value) if name == BY_ROLE else value
    return after


def _merged_roles(before: Mapping[str, int | None], changes: Mapping[str, int | None]) -> dict[str, int | None]:
    """A removed limit is stored only where it hides a default, or the removed ones would add up."""
    after = {**before, **changes}
    return {role: limit for role, limit in after.items() if limit is not None or role in ROLE_LIMITS}


def in_force(explicit: Explicit) -> JobSchedulerConfig:
    """The defaults, with the explicit settings on top."""
    roles = {**ROLE_LIMITS, **explicit.get(BY_ROLE, {})}
    limited = {role: limit for role, limit in roles.items() if limit is not None}
    return msgspec.convert({**explicit, BY_ROLE: limited}, JobSchedulerConfig)


def timeout_ms(explicit: Explicit, role: str) -> int:
    """The timeout of a job that sets none itself and whose handler sets none either."""
    config = in_force(explicit)
    if "defaultTimeout" in explicit:
        return config.defaultTimeout
    return ROLE_TIMEOUTS_MS.get(role, config.defaultTimeout)
