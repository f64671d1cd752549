"""Every public coroutine of `App` and `Job` has its blocking twin with the same parameters, defaults and types."""

import inspect
import re
from typing import Any

import pytest

from hanbeon import App, Job, SyncApp, SyncJob
from hanbeon.surfaces.surface import Surface
from hanbeon.sync.services import BlockingApp, BlockingJob, blocking_methods, derived

# What stays with the App: workers are run there, and the rest is its inside.
NOT_FOR_CALLERS = {
    *("from_file", "hub", "schedule", "store", "surface_worker", "surfaces", "twin", "use", "worker"),
}
PAIRS: list[tuple[type[Any], type[Any]]] = [(App, SyncApp), (Job, SyncJob)]


def public(kind: type[Any]) -> dict[str, Any]:
    """The attributes of a class, with those that a twin has from its base, where they are derived."""
    bases = [each for each in kind.__mro__ if each is kind or each in (BlockingApp, BlockingJob)]
    found = {name: each for base in reversed(bases) for name, each in vars(base).items()}
    return {name: each for name, each in found.items() if not name.startswith("_") and name != "id"}


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
    [(kind, twin, name) for kind, twin in PAIRS for name, each in public(kind).items() if name in public(twin)],
)
def test_the_signatures_are_the_same(kind: type[Any], twin: type[Any], name: str) -> None:
    ours, theirs = public(twin)[name], vars(kind)[name]
    if getattr(ours, "__wrapped__", None) is theirs:
        assert inspect.getdoc(ours), f"{name} says nothing"
        return  # Derived, and so is its stub.
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


def test_coroutines_are_derived_or_written_out() -> None:
    assert derived(App).keys() >= {"jobs", "cancel", "retry", "queues", "counts", "log", "explain", "instances"}
    assert derived(Job).keys() == {"record", "state", "attempts", "log", "blocked_by", "cancel"}
    for twin, base in ((SyncApp, BlockingApp), (SyncJob, BlockingJob)):
        derived_names = {name for name, each in vars(base).items() if hasattr(each, "__wrapped__")}
        assert not derived_names & vars(twin).keys(), "written out beside what is derived"
