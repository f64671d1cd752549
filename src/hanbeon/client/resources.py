"""Resources of a server: `client.offices` and `client.office(id)`, derived from the operations of the surfaces.

`resources.pyi`, which `make docs` generates from the operations, has the static types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from hanbeon.client.calls import RetryConfig
from hanbeon.client.methods import ClientMethod, bound_arguments, methods_of
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.surface import Surface


class Resource:
    """Base of what methods belong to: the transport, the retries, and the ids for the paths."""

    def __init__(self, transport: Any, retry: RetryConfig, ids: Mapping[str, Any]) -> None:
        self._transport, self._retry, self._ids = transport, retry, ids


class Resources:
    """The resources of one server as attributes: all of a kind by its plural, one by its singular and its id."""

    surfaces: ClassVar[tuple[Surface, ...]] = SURFACES
    _prefix: ClassVar[str]
    _transport: Any
    _retry: RetryConfig

    def __getattr__(self, name: str) -> Any:
        methods = _methods(self.surfaces).get(name)
        if methods is None:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}", name=name, obj=self)
        kind, parameter = resource_type(name, self._prefix, methods), methods[0].binding.id
        if parameter is None:
            return kind(self._transport, self._retry, {})

        def one(id: Any, /) -> Resource:
            return kind(self._transport, self._retry, {parameter: id})

        one.__doc__ = f"{kind.__doc__} No request is sent yet."
        return one

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_methods(self.surfaces)})


class SyncResources(Resources):
    """Methods block."""

    _prefix = ""


class AsyncResources(Resources):
    """Methods are awaited."""

    _prefix = "Async"


def resource_type(name: str, prefix: str, methods: list[ClientMethod]) -> type[Resource]:
    """The class of a resource, with a method for each operation."""
    parameter = methods[0].binding.id
    title = prefix + "".join(word.capitalize() for word in name.split("_"))
    members: dict[str, Any] = {method.binding.name: _function(method) for method in methods}
    members["__doc__"] = f"All {name} of a server." if parameter is None else f"One {name} of a server."
    if parameter is not None:
        members["id"] = property(lambda resource: resource._ids[parameter])
    return type(title, (Resource,), members)


def _function(method: ClientMethod) -> Callable[..., Any]:
    def function(resource: Resource, /, *args: Any, **named: Any) -> Any:
        fill = method.fill(resource._ids, bound_arguments(method, resource, args, named))
        drive = resource._transport.each if method.streams else resource._transport.run
        return drive(method.run(resource._retry, fill))

    function.__name__, function.__doc__ = method.binding.name, method.doc
    function.__signature__ = method.signature  # type: ignore[attr-defined]  # what `help` and editors show
    return function


_KNOWN: dict[int, tuple[tuple[Surface, ...], dict[str, list[ClientMethod]]]] = {}


def _methods(surfaces: tuple[Surface, ...]) -> dict[str, list[ClientMethod]]:
    """The methods by resource; a tuple of surfaces is read once."""
    if id(surfaces) not in _KNOWN:
        found: dict[str, list[ClientMethod]] = {}
        for surface in surfaces:
            for method in methods_of(surface):
                found.setdefault(method.binding.resource, []).append(method)
        _KNOWN[id(surfaces)] = surfaces, found  # With the tuple, or its identity might be given to another.
    return _KNOWN[id(surfaces)][1]
