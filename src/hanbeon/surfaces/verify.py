"""Audit of a database, or of a part of it, with the tables of every registered surface."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hanbeon.service.auditor import Watch
from hanbeon.service.verify import SurfaceAudit, VerifyReport, audit_database
from hanbeon.store.operations.audit import WHOLE, Window
from hanbeon.store.store import Store
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.surface import Surface, load


async def verify(
    store: Store,
    surfaces: Iterable[Surface] = SURFACES,
    window: Window = WHOLE,
    *,
    resume: Path | None = None,
    watch: Watch | None = None,
) -> VerifyReport:
    """Audit the database; see `audit_database`."""
    return await audit_database(store, audits_of(surfaces), window, resume=resume, watch=watch)


def audits_of(surfaces: Iterable[Surface] = SURFACES) -> list[SurfaceAudit]:
    return [load(each.verify) for each in surfaces if each.verify is not None]
