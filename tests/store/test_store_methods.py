"""The store has few methods: what takes one transaction is an operation, called through `read` or `write`."""

import inspect

from hanbeon.store.store import Store

MOST = 30


def _own(name: str) -> bool:
    return not name.startswith("_") and any(name in vars(each) for each in Store.__mro__[:-1])


def test_few_methods_are_public() -> None:
    methods = [name for name, _ in inspect.getmembers(Store, inspect.isfunction) if _own(name)]
    properties = [name for name, _ in inspect.getmembers(Store, lambda each: isinstance(each, property)) if _own(name)]
    assert {"read", "write", "enqueue", "claim", "complete"} <= set(methods)
    assert len(methods) + len(properties) <= MOST, sorted(methods + properties)
