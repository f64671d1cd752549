"""Schedules that code or a file declares: what a declaration changes of a schedule that is there already."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from hanbeon.domain.schedules.checks import check_timing
from hanbeon.domain.schedules.definition import Definition
from hanbeon.errors import InvalidInput

Said = Mapping[str, Any]
"""What is declared, by the names of the fields, in plain values that compare as they do after a way through JSON."""

_TIMING = {
    "cron": "cron",
    "run_at": "run_at",
    "timezone": "timezone",
    "starts_at": "starts_at",
    "ends_at": "ends_at",
    "jitter": "jitter_us",
    "dst_gap": "gap",
    "dst_fold": "fold",
}
_DEFINITION = ("args", "overlap", "misfire", "misfire_limit")
LONG_AGO = 0
"""What is past in a declaration was to come when it was written, so that no moment counts as past."""


class InForce(msgspec.Struct, frozen=True):
    """What of a schedule can be declared."""

    task: str
    definition: Definition
    paused: bool = False

    def plain(self) -> dict[str, Any]:
        """Every field that can be declared, as a declaration would say it."""
        timing, definition = self.definition.timing, self.definition
        told = {name: getattr(timing, field) for name, field in _TIMING.items()}
        told |= {name: getattr(definition, name) for name in _DEFINITION}
        told |= {"args": msgspec.json.decode(definition.args), "task_id": self.task, "paused": self.paused}
        plain: dict[str, Any] = msgspec.to_builtins(told)
        return plain


class Declaration(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule as it is declared: `whole`, with defaults for what is not named; and `said`, what is."""

    name: str
    whole: InForce
    said: Said


def declaration(name: str, whole: InForce, named: Collection[str]) -> Declaration:
    """The zone counts as named: without one it is the installation's, and a change of that is one of all these."""
    plain = whole.plain()
    return Declaration(name=name, whole=whole, said={field: plain[field] for field in {"timezone", *named}})


def changed_fields(before: Said, after: Said) -> frozenset[str]:
    """What one declaration says otherwise than another, or only one of them says."""
    return frozenset(
        field
        for field in {*before, *after}
        if field not in before or field not in after or before[field] != after[field]
    )


def overridden(said: Said, in_force: InForce) -> list[str]:
    """The declared fields that have another value now, since somebody changed them."""
    plain = in_force.plain()
    return sorted(field for field, value in said.items() if plain[field] != value)


def reconciled(in_force: InForce, declared: Declaration, fields: Collection[str]) -> InForce:
    """The schedule with these fields as they are declared, and all others as they are.

    Where the two do not go together, all is as declared.
    """
    whole = declared.whole
    before, after = in_force.definition, whole.definition
    times = {field: getattr(after.timing, field) for name, field in _TIMING.items() if name in fields}
    if times.get("cron") is not None:
        times["run_at"] = None
    if times.get("run_at") is not None:
        times["cron"] = None
    timing = msgspec.structs.replace(before.timing, **times)
    try:
        check_timing(timing, LONG_AGO)
    except InvalidInput:
        return whole
    rest = {name: getattr(after, name) for name in _DEFINITION if name in fields}
    return InForce(
        task=whole.task if "task_id" in fields else in_force.task,
        definition=msgspec.structs.replace(before, timing=timing, **rest),
        paused=whole.paused if "paused" in fields else in_force.paused,
    )
