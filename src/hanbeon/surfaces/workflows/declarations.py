"""Workflows declared in files: applied by workers when they start, and again when the declaration changes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from hanbeon.domain.json_text import to_json_text
from hanbeon.errors import HanbeonError, InvalidInput
from hanbeon.logs import get_logger
from hanbeon.rule import Rule
from hanbeon.surfaces.schema import Name
from hanbeon.surfaces.validation import convert, given_fields, inside, validate
from hanbeon.surfaces.workflows import schemas
from hanbeon.surfaces.workflows.plan import config_of
from hanbeon.zones import zone_of

if TYPE_CHECKING:
    from hanbeon.surfaces.workflows.service import Workflows

_log = get_logger("hanbeon.workflows")
ACTIVE = "active"


class DeclaredWorkflow(msgspec.Struct, frozen=True):
    """A declaration. Its fields are those of the API; it is active unless it says otherwise."""

    name: str
    fields: dict[str, Any]

    @property
    def text(self) -> str:
        return to_json_text(self.fields, "the workflow", "steps")


def declared_workflow(name: Any, given: Mapping[str, Any]) -> DeclaredWorkflow:
    """Check the fields of a declaration, as far as that needs no secrets and no database."""
    with inside("name"):
        name = convert(Name, name)
    fields = {"status": ACTIVE, **{field: _plain(value) for field, value in given.items()}}
    if "name" in fields:
        raise InvalidInput(Rule("name_of_table"), field="name")
    request = given_fields(validate(schemas.NewWorkflow, {"name": name, **fields}))
    config_of(request["schedule_config"], zone_of(request.get("timezone") or "UTC"))
    return DeclaredWorkflow(name, fields)


def _plain(value: Any) -> Any:
    """TOML has moments of its own."""
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


async def apply_declared(workflows: Workflows, declared: Iterable[DeclaredWorkflow]) -> None:
    """Put the declarations in force. One that cannot be kept is logged, and the others go on."""
    for each in declared:
        try:
            outcome = await workflows.declare(each.name, each.fields)
        except HanbeonError as error:
            _log.error("workflow_not_declared", workflow=each.name, error=str(error))
            continue
        if outcome != "same":
            _log.info("workflow_declared", workflow=each.name, outcome=outcome)
