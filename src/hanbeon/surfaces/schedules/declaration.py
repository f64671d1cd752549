"""Schedules declared by code or a file: the changes that a declaration makes to an existing schedule."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from hanbeon.domain.timing.checks import check_timing
from hanbeon.errors import InvalidInput
from hanbeon.surfaces.schedules.definition import RULES, Definition

Fields = Mapping[str, Any]
"""Declared fields by name, in plain values that compare equal after a round trip through JSON."""

_TIMING = {
    "cron": "cron",
    "every": "every_us",
    "run_at": "run_at",
    "timezone": "timezone",
    "starts_at": "starts_at",
    "ends_at": "ends_at",
    "jitter": "jitter_us",
    "dst_gap": "gap",
    "dst_fold": "fold",
}
LONG_AGO = 0
"""Passed as `now` when a declaration is checked: its instants were in the future when it was written."""


class InForce(msgspec.Struct, frozen=True):
    """The part of a schedule that can be declared, as it is in force."""

    task: str
    definition: Definition
    paused: bool = False

    def as_table(self) -> dict[str, Any]:
        """Return every declarable field in the form of a declaration."""
        timing, definition = self.definition.timing, self.definition
        fields = {name: getattr(timing, field) for name, field in _TIMING.items()}
        fields |= {name: getattr(definition, name) for name in RULES}
        fields |= {"args": msgspec.json.decode(definition.args), "task_id": self.task, "paused": self.paused}
        plain: dict[str, Any] = msgspec.to_builtins(fields)
        return plain


class Declaration(msgspec.Struct, frozen=True, kw_only=True):
    """A declared schedule: `whole`, with defaults for omitted fields; and `fields`, only those that were named."""

    name: str
    whole: InForce
    fields: Fields


def declaration(name: str, whole: InForce, named: Collection[str]) -> Declaration:
    """Build a declaration. The time zone always counts as named: its default is a setting, and may change with it."""
    plain = whole.as_table()
    return Declaration(name=name, whole=whole, fields={field: plain[field] for field in {"timezone", *named}})


def changed_fields(before: Fields, after: Fields) -> frozenset[str]:
    """Return the fields that differ between two declarations or that only one of them has."""
    return frozenset(
        field
        for field in {*before, *after}
        if field not in before or field not in after or before[field] != after[field]
    )


def overridden(declared: Fields, in_force: InForce) -> list[str]:
    """Return the declared fields that have another value now, because an operator changed them."""
    plain = in_force.as_table()
    return sorted(field for field, value in declared.items() if plain[field] != value)


def reconciled(in_force: InForce, declared: Declaration, fields: Collection[str]) -> InForce:
    """Return the schedule with these fields as declared, and all others as they are.

    If that combination is invalid, all fields are as declared.
    """
    whole = declared.whole
    before, after = in_force.definition, whole.definition
    times = {field: getattr(after.timing, field) for name, field in _TIMING.items() if name in fields}
    kinds = ("cron", "every_us", "run_at")
    if any(times.get(kind) is not None for kind in kinds):
        times |= {kind: None for kind in kinds if times.get(kind) is None}
    timing = msgspec.structs.replace(before.timing, **times)
    try:
        check_timing(timing, LONG_AGO)
    except InvalidInput:
        return whole
    rest = {name: getattr(after, name) for name in ("args", *RULES) if name in fields}
    return InForce(
        task=whole.task if "task_id" in fields else in_force.task,
        definition=msgspec.structs.replace(before, timing=timing, **rest),
        paused=whole.paused if "paused" in fields else in_force.paused,
    )
