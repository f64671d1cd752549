"""Operations of offices against the service that answers them."""

import inspect
from typing import Any, get_type_hints

import pytest

from hanbeon.surfaces.offices.service import Offices
from hanbeon.surfaces.offices.surface import SURFACE
from hanbeon.surfaces.operation import Operation
from hanbeon.surfaces.surface import load

OPERATIONS = pytest.mark.parametrize("operation", SURFACE.operations, ids=lambda each: f"{each.method} {each.path}")


def test_references_of_the_surface_can_be_loaded() -> None:
    assert load(SURFACE.service) is Offices
    assert SURFACE.pool is not None
    assert callable(load(SURFACE.pool))


@OPERATIONS
def test_methods_take_what_the_operation_gives(operation: Operation) -> None:
    parameters = dict(inspect.signature(getattr(Offices, operation.call)).parameters)
    fields = parameters.pop("fields", None)
    kinds = {name: each.kind for name, each in parameters.items()}
    positional = [name for name, kind in kinds.items() if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    assert len(positional) == 1 + len(operation.parameters)
    assert (fields is None) is (operation.request is None)
    if operation.request is not None and fields is not None:
        assert fields.annotation == f"Unpack[keywords.{operation.request.__name__}Fields]"
    given = {name for name, kind in kinds.items() if kind is inspect.Parameter.KEYWORD_ONLY}
    changes = operation.versioned and operation.method == "PATCH"
    assert given == {*(["new_id"] if operation.creates else []), *(["expected"] if changes else [])}


@OPERATIONS
def test_results_are_what_the_operation_answers(operation: Operation) -> None:
    result = get_type_hints(getattr(Offices, operation.call))["return"]
    if operation.versioned or operation.accepted:
        assert {"version" if operation.versioned else operation.accepted} <= set(result.__struct_fields__)
    answer: Any = get_type_hints(result)[operation.part] if operation.part else result
    assert set(operation.responses.values()) == {None if answer is type(None) else answer}


def test_locations_are_paths_of_operations() -> None:
    paths = {each.path for each in SURFACE.operations}
    for operation in SURFACE.operations:
        if operation.location is not None:
            assert any(operation.location.replace("{result.id}", name) in paths for name in ("{id}", "{deliveryId}"))
