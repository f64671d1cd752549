"""Use of secrets by a workflow: each goes only where its declaration permits."""

from __future__ import annotations

from hanbeon.domain.templates import variables
from hanbeon.errors import InvalidInput
from hanbeon.messages import Messenger, secret_names
from hanbeon.outbound.messages import destination_of
from hanbeon.outbound.origin import Origin, split_url
from hanbeon.outbound.secrets import HTTP_USE, Destination, Secrets
from hanbeon.rule import Rule
from hanbeon.surfaces.workflows.checks import SECRETS, STEPS, TARGET, filled, texts_of
from hanbeon.surfaces.workflows.definition import Definition, Step
from hanbeon.surfaces.workflows.vocabulary import StepType

_PROBES = ("probe", "another", "probe@example.org", "another@example.net")
_URL = "://"


def check_secret_use(definition: Definition, messenger: Messenger) -> None:
    """Raise InvalidInput with the field whose secret must not go there, or is an admin's to use."""
    for index, step in enumerate(definition.steps):
        for field, text, _, may in texts_of(step):
            destination = f"steps[{index}].{field}"
            if may and step.type is StepType.HTTP:
                origin = split_url(_beginning(step.url or ""), "url")[0]
                check_names(
                    secret_names(text), origin, messenger.secrets, trusted=definition.trusted, field=destination
                )
            elif may and field.endswith(TARGET):
                _check_target(text, messenger, trusted=definition.trusted, field=destination)
    for number, text in enumerate(definition.notifications):
        _check_target(text, messenger, trusted=definition.trusted, field=f"notifications[{number}]")


def check_names(names: list[str], origin: Origin, secrets: Secrets, *, trusted: bool, field: str | None = None) -> None:
    """Reject secrets that must not be sent to this origin by an HTTP step."""
    for name in names:
        secrets.check_use(name, HTTP_USE, Destination(origin.host, origin.port), trusted=trusted, field=field)


def secrets_of(step: Step) -> dict[str, list[str]]:
    """Return the secrets that each text of a step names."""
    return {field: secret_names(text) for field, text, _, may in texts_of(step) if may}


def secret_outputs(definition: Definition) -> frozenset[str]:
    """Return the steps whose outputs come from secrets: a server may repeat what it was sent, in any form.

    So may one that was sent such an output. A message's output only counts.
    """
    found: set[str] = set()
    for step in definition.steps:
        if step.type in (StepType.HTTP, StepType.TASK) and any(
            name.startswith(f"{SECRETS}.") or (name.startswith(f"{STEPS}.") and name.split(".")[1] in found)
            for _, text, _, _ in texts_of(step)
            for name in variables(text)
        ):
            found.add(step.name)
    return frozenset(found)


def _check_target(text: str, messenger: Messenger, *, trusted: bool, field: str) -> None:
    if _URL in text and secret_names(text):
        _check_fixed(text, field)
    messenger.check_secrets(filled(text, _PROBES[0]), trusted=trusted, field=field)


def _check_fixed(text: str, field: str) -> None:
    """Reject a receiver that depends on the values of a run, which its caller gives."""
    if all(name.startswith(f"{SECRETS}.") for name in variables(text)):
        return
    # With an address for a value, some targets are none at all, and then their receiver is as written.
    destinations = [destination_of(filled(text, probe)) for probe in _PROBES]
    if destinations[0] != destinations[1] or destinations[2] != destinations[3]:
        raise InvalidInput(Rule("host_with_secret"), field=field)


def _beginning(url: str) -> str:
    """The URL up to its first variable: its host is fixed."""
    return url.partition("{{")[0]
