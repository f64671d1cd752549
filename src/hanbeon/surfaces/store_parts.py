"""Parts of a store that surfaces declare: reserved queues, and rows that retention deletes."""

from __future__ import annotations

from collections.abc import Iterable

from hanbeon.store.store import Store
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.surface import Surface, load, reserve_queues


def equip(store: Store, surfaces: Iterable[Surface] = SURFACES) -> Store:
    """Give a store the parts of all surfaces. One without them can neither prune nor tell reserved queues."""
    surfaces = list(surfaces)
    reserve_queues(surfaces)
    store.retention = [load(each.retention) for each in surfaces if each.retention is not None]
    return store
