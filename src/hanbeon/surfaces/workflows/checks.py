"""Checks of a definition that need nothing but itself: names, references and templates."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from hanbeon.domain.templates import TemplateError, check, variables
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.surfaces.workflows.definition import Definition, Step

SECRETS, STEPS, RUN = "secrets", "steps", "run"
RUN_NAMES = ("run.id", "run.scheduled_time", "run.date", "workflow.name", "workflow.id")
"""Variables that every run has."""
TARGET = "target"


def check_definition(definition: Definition, secrets: Collection[str]) -> None:
    """Raise InvalidInput with the step and the field that is wrong."""
    _check_variables(definition.variables)
    names = [step.name for step in definition.steps]
    for index, step in enumerate(definition.steps):
        if step.name in names[:index]:
            raise InvalidInput(Rule("step_name_twice", got=repr(step.name)), field=f"steps[{index}].name")
    shared = {*definition.variables, *RUN_NAMES}
    for index, step in enumerate(definition.steps):
        before = {f"{STEPS}.{name}" for name in names[:index]}
        for field, text, own, secret in texts_of(step):
            known = shared | before | set(own) | ({f"{SECRETS}.{name}" for name in secrets} if secret else set())
            _check_text(text, known, f"steps[{index}].{field}", names[index:])


def texts_of(step: Step) -> Iterator[tuple[str, str, Sequence[str], bool]]:
    """Yield every template of a step: its field, text, the variables of its own, and True if it may name secrets."""
    everyone = _shared_by_all(step.recipients)
    for field in ("target", "title", "body"):
        text = getattr(step, field)
        if text is not None:
            yield field, text, everyone, field == TARGET
    for number, recipient in enumerate(step.recipients or ()):
        if TARGET in recipient:
            yield f"recipients[{number}].{TARGET}", recipient[TARGET], list(recipient), True
    if step.url is not None:
        yield "url", step.url, (), True
    for name, value in (step.headers or {}).items():
        yield f"headers.{name}", value, (), True
    for place, text in _strings(step.content, "body"):
        yield place, text, (), True
    for place, text in _strings(step.args, "args"):
        yield place, text, (), False


def _shared_by_all(recipients: Sequence[dict[str, Any]] | None) -> list[str]:
    """The variables that every recipient has: a message is rendered for each of them."""
    if not recipients:
        return []
    shared = set.intersection(*(set(each) for each in recipients)) - {TARGET}
    return sorted(shared)


def _strings(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _strings(each, f"{place}.{name}")
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from _strings(each, f"{place}[{number}]")


def _check_text(text: str, known: Collection[str], field: str, later: Sequence[str]) -> None:
    try:
        check(text, known)
    except TemplateError as error:
        if _refers_to(text, later):
            raise InvalidInput(
                Rule("earlier_steps_only", error=error),
                field=field,
            ) from None
        raise InvalidInput(error.rule, field=field) from None


def _refers_to(text: str, names: Sequence[str]) -> bool:
    from hanbeon.domain.templates import variables

    try:
        used = variables(text)
    except TemplateError:
        return False
    return any(name == f"{STEPS}.{step}" or name.startswith(f"{STEPS}.{step}.") for name in used for step in names)


def _check_variables(variables: Any) -> None:
    for name in variables:
        if name in (SECRETS, STEPS, RUN, "workflow"):
            raise InvalidInput(Rule("variable_of_runs"), field=f"variables.{name}")


_PLACE = re.compile(r"\{\{\s*([^\s{}]+)\s*\}\}")


def filled(text: str, probe: str) -> str:
    """Return the template with a probe for each value but secrets."""
    own = {name for name in variables(text) if not name.startswith(f"{SECRETS}.")}
    return _PLACE.sub(lambda found: probe if found[1] in own else found[0], text)
