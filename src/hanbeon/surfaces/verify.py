"""Audit of a whole database, with the tables of every registered surface."""

from __future__ import annotations

from collections.abc import Iterable

from hanbeon.service.verify import VerifyReport, audit_database
from hanbeon.store.store import Store
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.surface import Surface, load


async def verify(store: Store, surfaces: Iterable[Surface] = SURFACES) -> VerifyReport:
    """Audit the database; see `audit_database`."""
    return await audit_database(store, [load(each.verify) for each in surfaces if each.verify is not None])
