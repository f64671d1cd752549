"""Parts of a store that surfaces declare: reserved queues, end hooks, and rows that retention deletes."""

from __future__ import annotations

from collections.abc import Iterable

from hanbeon.clock import SystemClock
from hanbeon.store.backends import open_store
from hanbeon.store.operations.end_hooks import register_end_hook
from hanbeon.store.store import Store
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.surface import Surface, load, reserve_queues


def equip(store: Store, surfaces: Iterable[Surface] = SURFACES) -> Store:
    """Give a store the parts of all surfaces. One without them can neither prune nor end jobs of built-in tasks."""
    surfaces = list(surfaces)
    reserve_queues(surfaces)
    for each in surfaces:
        if each.end_hook is not None:
            register_end_hook(load(each.end_hook))
    store.retention = [load(each.retention) for each in surfaces if each.retention is not None]
    return store


def whole_store(url: str) -> Store:
    """Return the store of a URL with the parts of all surfaces, not yet open, for commands that need no App."""
    return equip(open_store(url, SystemClock()))
