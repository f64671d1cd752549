"""A dry run: every message of a workflow, rendered and not sent."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from hanbeon.domain.templates import Budget, TemplateError, variables
from hanbeon.errors import InvalidInput
from hanbeon.messages import shown_target
from hanbeon.store.operations.pages import Slice, fit_page
from hanbeon.surfaces.workflows.checks import STEPS, TARGET
from hanbeon.surfaces.workflows.definition import Definition
from hanbeon.surfaces.workflows.rows import WorkflowRecord
from hanbeon.surfaces.workflows.schemas import RenderedMessage
from hanbeon.surfaces.workflows.variables import fill, values_of
from hanbeon.surfaces.workflows.vocabulary import StepType
from hanbeon.zones import zone_of

_NO_RUN = "00000000-0000-0000-0000-000000000000"


def rendered_messages(
    record: WorkflowRecord, given: Mapping[str, Any], outputs: Mapping[str, Any], at: int
) -> Slice[RenderedMessage]:
    """Render the messages of all steps; the output of a step that is not given is shown by its name.

    They end where a page ends, in bytes. It may take a moment: on an event loop, call it in a thread.
    """
    definition = record.plan
    values = values_of(
        definition,
        given,
        workflow_id=record.id,
        run_id=_NO_RUN,
        scheduled_time=at,
        zone=zone_of(record.timezone),
        outputs={**_placeholders(definition), **outputs},
    )
    return fit_page(((each, len(msgspec.json.encode(each))) for each in _messages(definition, values)), sys.maxsize)


def _messages(definition: Definition, values: Mapping[str, Any]) -> Iterator[RenderedMessage]:
    for index, step in enumerate(definition.steps):
        if step.type is not StepType.MESSAGE:
            continue
        for number, recipient in enumerate(step.recipients if step.recipients is not None else ({},)):
            own = {**values, **{name: value for name, value in recipient.items() if name != TARGET}}
            budget = Budget()
            try:
                yield RenderedMessage(
                    step=index,
                    name=step.name,
                    recipient=number,
                    target=shown_target(str(recipient.get(TARGET) or step.target)),
                    title=str(fill(step.title or "", own, budget)),
                    body=str(fill(step.body or "", own, budget)),
                )
            except TemplateError as error:
                raise InvalidInput(error.rule, field=f"steps[{index}]") from None


def _placeholders(definition: Definition) -> dict[str, Any]:
    """For each name below `steps` that a message uses, a value that shows the name."""
    found: dict[str, Any] = {}
    for step in definition.steps:
        for text in (step.title, step.body):
            for name in variables(text) if text else ():
                parts = name.split(".")
                if parts[0] == STEPS and len(parts) > 1:
                    _place(found, parts[1:], f"[{name}]")
    return found


def _place(into: dict[str, Any], path: list[str], text: str) -> None:
    for part in path[:-1]:
        below = into.setdefault(part, {})
        if not isinstance(below, dict):
            return
        into = below
    into.setdefault(path[-1], text)
