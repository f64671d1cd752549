"""The libraries of the extra `render`, imported when they are used."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from hanbeon.extras import extra

_MODULES = ("av", "PIL")


def is_installed() -> bool:
    """True if replays can be rendered here."""
    return all(importlib.util.find_spec(name) is not None for name in _MODULES)


def check_installed() -> None:
    """Raise ExtraMissing, with the remedy, if replays cannot be rendered here."""
    for name in _MODULES:
        library(name)


def library(name: str) -> ModuleType:
    """Import a module of the extra. Raises ExtraMissing, with the remedy."""
    with extra("render", "rendering"):
        return importlib.import_module(name)
