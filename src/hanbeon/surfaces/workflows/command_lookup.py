"""Finds a workflow by the id or name on the command line."""

from __future__ import annotations

from hanbeon.domain.job import is_id
from hanbeon.errors import Conflict, NotFound
from hanbeon.quotation import quoted, suggested
from hanbeon.rule import Rule
from hanbeon.surfaces.installation import Installation


async def id_of(installation: Installation, typed: str) -> str:
    """Return the id, which is not looked up, or that of the workflow with this name, if the name is unique."""
    if is_id(typed):
        return typed
    names, found, cursor = [], [], None
    while True:
        page = await installation.workflows.list(cursor=cursor, limit=200)
        names += [each.name for each in page.items]
        found += [each.id for each in page.items if each.name == typed]
        cursor = page.next_cursor
        if cursor is None:
            break
    if len(found) > 1:
        raise Conflict(Rule("workflow_name_ambiguous", count=len(found), name=quoted(typed), ids=found))
    if not found:
        raise NotFound(Rule("workflow_not_listed", workflow=quoted(typed), nearest=suggested(typed, names)))
    return found[0]
