"""Every public coroutine of `App` and `Job` has its blocking twin with the same parameters, defaults and types."""

import inspect
import re
from typing import Any

import pytest

from hanbeon import App, Job, SyncApp, SyncJob
from hanbeon.surfaces.surface import Surface
from hanbeon.sync.services import blocking_methods

# What stays with the App: workers are run there, and the rest is its inside.
NOT_FOR_CALLERS = {
    *("from_file", "hub", "schedule", "store", "surface_worker", "surfaces", "twin", "use", "worker"),
}
PAIRS: list[tuple[type[Any], type[Any]]] = [(App, SyncApp), (Job, SyncJob)]


def public(kind: type[Any]) -> dict[str, Any]:
    return {name: each for name, each in vars(kind).items() if not name.startswith("_")}


@pytest.mark.parametrize(("kind", "twin"), PAIRS, ids=["App", "Job"])
def test_the_names_are_the_same(kind: type[Any], twin: type[Any]) -> None:
    assert set(public(twin)) == set(public(kind)) - (NOT_FOR_CALLERS if kind is App else set())


def sync_annotation(annotation: Any) -> str:
    """Return an annotation as the synchronous side writes it."""
    text = str(annotation)
    text = text.replace("contextlib.AbstractAsyncContextManager[UserTransaction]", "Iterator[SyncTransaction]")
    text = re.sub(r"\b(Job|App)\b", r"Sync\1", text)
    return text.replace("AsyncIterator", "Iterator")


@pytest.mark.parametrize(
    ("kind", "twin", "name"),
    [(kind, twin, name) for kind, twin in PAIRS for name, each in public(kind).items() if name in vars(twin)],
)
def test_the_signatures_are_the_same(kind: type[Any], twin: type[Any], name: str) -> None:
    ours, theirs = vars(twin)[name], vars(kind)[name]
    if isinstance(theirs, property):
        assert isinstance(ours, property)
        return
    assert not inspect.iscoroutinefunction(ours)
    ours, theirs = inspect.unwrap(ours), inspect.unwrap(theirs)
    mine, their = inspect.signature(ours), inspect.signature(theirs)
    assert [(each.name, each.kind, each.default) for each in mine.parameters.values()] == [
        (each.name, each.kind, each.default) for each in their.parameters.values()
    ]
    assert [each.annotation for each in mine.parameters.values()] == [
        each.annotation
        if each.name == "self"
        else sync_annotation(each.annotation)
        if each.annotation is not each.empty
        else each.empty
        for each in their.parameters.values()
    ]
    assert mine.return_annotation == sync_annotation(their.return_annotation)
    assert inspect.getdoc(ours), f"{name} says nothing"


@pytest.mark.parametrize("surface", App.surfaces, ids=lambda surface: surface.name)
def test_services_have_every_coroutine_of_theirs(surface: Surface) -> None:
    coroutines = blocking_methods(surface)
    assert coroutines.keys() >= {operation.call for operation in surface.operations}
    twin = getattr(SyncApp(App("sqlite:///unopened.db")), surface.name)
    assert set(dir(twin)) == coroutines.keys()
    for name in coroutines:
        assert inspect.getdoc(getattr(twin, name)), f"{name} has no docstring"
    with pytest.raises(AttributeError):
        _ = twin.no_such_method
