"""Modules that are imported when they are first used: drivers, of which a process needs one or none."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LazyModule:
    """Stands for a module and imports it for the first attribute that is read. Each is looked up once."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        vars(self)[name] = value
        return value
