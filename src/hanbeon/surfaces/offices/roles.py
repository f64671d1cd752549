"""The roles of an office, at most `ROLES`: those that its config limits, its sessions serve and its jobs have."""

from __future__ import annotations

from collections.abc import Sequence

from hanbeon.domain.bounds import ROLES
from hanbeon.domain.job import NewJob
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.store.operations.enqueue import lanes_of
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx
from hanbeon.surfaces.offices.config import BY_ROLE
from hanbeon.surfaces.offices.resolve import DEFAULT_SESSION
from hanbeon.surfaces.offices.rows import OfficeRecord, keep_office, lock_office, roles_of_queue


def check_new_roles(office: OfficeRecord, field: str) -> None:
    """Reject an office that names too many roles."""
    _check_count(_named(office), field)


async def check_added_roles(tx: Tx, before: OfficeRecord, after: OfficeRecord, field: str) -> None:
    """Reject a change of a locked office that adds roles beyond the bound."""
    if _named(after) <= _named(before):
        return
    of_jobs = await roles_of_queue(tx, after.queue)
    if not _named(after) <= _named(before) | of_jobs:
        _check_count(_named(after) | of_jobs, field)


async def keep_with_roles(
    tx: Tx, lanes: LaneCache, office: OfficeRecord, ids: Sequence[str], jobs: Sequence[NewJob]
) -> None:
    """Lock an unchanged office for the creation of these jobs; reject one that brings a role beyond the bound.

    The role of a lane that this instance has seen is known, so that only the first job of a role costs anything: then
    the lock is exclusive, or two batches could both bring the last role.
    """
    new = {name.role for name in lanes.missing(lanes_of(jobs))} - _named(office) - {""}
    if not new:
        return await keep_office(tx, office.id, office.version)
    await lock_office(tx, office.id, office.version)
    known = _named(office) | await roles_of_queue(tx, office.queue)
    for job in jobs:
        if job.role in new - known:
            known.add(job.role)
            _check_count(known, f"jobs[{ids.index(job.id)}].role")
    return None


def _named(office: OfficeRecord) -> set[str]:
    """The roles that the office itself names, without those of the default config."""
    limits = {role for role, limit in office.config.get(BY_ROLE, {}).items() if limit is not None}
    return limits | (office.sessions.keys() - {DEFAULT_SESSION})


def _check_count(roles: set[str], field: str) -> None:
    if len(roles) > ROLES:
        raise InvalidInput(
            Rule("too_many_roles", most=ROLES, got=len(roles)),
            field=field,
        )
