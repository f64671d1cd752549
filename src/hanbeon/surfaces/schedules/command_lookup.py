"""Finds a schedule by the name or id on the command line."""

from __future__ import annotations

from hanbeon.domain.job import is_id
from hanbeon.errors import NotFound
from hanbeon.quotation import quoted, suggested
from hanbeon.rule import Rule
from hanbeon.surfaces.installation import Installation
from hanbeon.surfaces.schedules.schemas import Schedule

_HINT_CANDIDATES = 1_000


async def find(app: Installation, typed: str) -> Schedule:
    """Return the schedule with this id or name."""
    if is_id(typed):
        return await app.schedules.get(typed)
    found = (await app.schedules.list(name=typed, limit=1)).items
    if found:
        return found[0]
    names = [each.name for each in (await app.schedules.list(limit=_HINT_CANDIDATES)).items if each.name is not None]
    raise NotFound(Rule("schedule_not_listed", schedule=quoted(typed), nearest=suggested(typed, names)))


async def declared_names(app: Installation) -> list[str] | None:
    """Return the names of the schedules that live workers declare; None if no worker is alive."""
    alive = [each for each in (await app.engine.instances()).items if each.alive]
    return [name for each in alive for name in each.schedules] if alive else None
