"""Values of the variables that templates of a run may use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from hanbeon.clock import iso
from hanbeon.domain.templates import Budget, render
from hanbeon.errors import InvalidInput
from hanbeon.quotation import suggested
from hanbeon.rule import Rule
from hanbeon.surfaces.workflows.checks import RUN, STEPS
from hanbeon.surfaces.workflows.definition import Definition


def values_of(
    definition: Definition,
    given: Mapping[str, Any],
    *,
    workflow_id: str,
    run_id: str,
    scheduled_time: int,
    zone: ZoneInfo,
    outputs: Mapping[str, Any],
) -> dict[str, Any]:
    """Return all values but secrets: those of the run, its variables, and the outputs of steps before."""
    at = iso(scheduled_time, zone, "seconds") or ""
    return {
        **definition.variables,
        **given,
        RUN: {"id": run_id, "scheduled_time": at, "date": at[:10]},
        "workflow": {"id": workflow_id, "name": definition.name},
        STEPS: dict(outputs),
    }


def check_given(definition: Definition, given: Mapping[str, Any]) -> None:
    """Reject variables that the workflow does not declare."""
    for name in given:
        if name not in definition.variables:
            known = sorted(definition.variables)
            rule = Rule("unknown_variable", nearest=suggested(name, known), known=known)
            raise InvalidInput(rule, field=f"variables.{name}")


def fill(value: Any, values: Mapping[str, Any], budget: Budget) -> Any:
    """Return the value with every text in it rendered, all of them within the budget."""
    if isinstance(value, str):
        return render(value, values, budget=budget)
    if isinstance(value, Mapping):
        return {name: fill(each, values, budget) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [fill(each, values, budget) for each in value]
    return value


def output_of(text: str | None) -> Any:
    return None if text is None else msgspec.json.decode(text)
