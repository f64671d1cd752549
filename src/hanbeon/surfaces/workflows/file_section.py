"""`[workflows.NAME]`: declared workflows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from hanbeon.config.reader import Reader
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.surfaces.surface import FileSection
from hanbeon.surfaces.workflows.declarations import DeclaredWorkflow, declared_workflow

_NEEDS = (
    {"steps": [{"type": "wait", "seconds": 0}]},
    {"schedule_config": {"mode": "immediate"}},
)


def read_workflows(value: Any, reader: Reader) -> tuple[DeclaredWorkflow, ...]:
    """Return every valid workflow; record all problems of the others. Targets are checked when it is applied."""
    found = []
    for name, table in reader.table(value, "workflows").items():
        with reader.at("workflows", name):
            if not isinstance(table, Mapping):
                raise InvalidInput(Rule("workflow_not_a_table", name=name))
            made = reader.every(("workflows", name), table, partial(declared_workflow, name), *_NEEDS)
            if made is not None:
                found.append(made)
    return tuple(found)


SECTION = FileSection(read_workflows)
