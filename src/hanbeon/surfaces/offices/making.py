"""Making the jobs of an office: the whole batch or nothing, by the sessions and the config that hold at that moment."""

from __future__ import annotations

from collections.abc import Sequence

from hanbeon.domain.job import NewJob
from hanbeon.errors import Changed, IdAlreadyUsed, UnknownDependency
from hanbeon.store.operations.offices import OfficeRecord, keep_office, office_by_id
from hanbeon.store.port import Store
from hanbeon.surfaces.offices.asked import Planned, meta_of, new_job
from hanbeon.surfaces.offices.reading import inside
from hanbeon.surfaces.offices.resolve import Handlers

_ROUNDS = 10


async def make_jobs(
    store: Store, office_id: str, planned: Sequence[Planned], handlers: Handlers, max_payload_bytes: int
) -> None:
    """Make what is not there yet.

    Who runs a job is decided before its transaction, which then finds the office unchanged or begins anew: whoever
    changes the sessions either is seen here, or sees the jobs that still want a handler.
    """
    for _ in range(_ROUNDS):
        office = await store.database.read(lambda tx: office_by_id(tx, office_id))
        made = await _made_before(store, office, planned)
        jobs = _new_jobs(planned, made, office, handlers, max_payload_bytes)
        if not jobs:
            return
        try:
            await store.enqueue(jobs, first=lambda tx, office=office: keep_office(tx, office.id, office.version))  # type: ignore[misc]
            return
        except UnknownDependency as error:
            # A job of another office is as unknown here as one that never was.
            ids = ", ".join(error.ids)
            raise UnknownDependency(f"{ids}: no job of this office has such an id", error.ids) from error
        except Changed:
            continue
    raise Changed(f"office {office_id} changes faster than jobs can be made in it; try again")


async def _made_before(store: Store, office: OfficeRecord, planned: Sequence[Planned]) -> set[str]:
    """Ids that clients chose and have sent before, with the same contents; with other contents they are refused.

    By what was asked, not by what became of it: the handler that the sessions gave it may be another one today.
    """
    chosen = {each.id: each for each in planned if each.spec.id is not None}
    found = await store.jobs(list(chosen)) if chosen else []
    for job in found:
        if job.queue != office.queue or meta_of(job.meta).asked != chosen[job.id].asked:
            raise IdAlreadyUsed("id", job.id, job.id)
    return {job.id for job in found}


def _new_jobs(
    planned: Sequence[Planned], made: set[str], office: OfficeRecord, handlers: Handlers, max_payload_bytes: int
) -> list[NewJob]:
    jobs = []
    for number, each in enumerate(planned):
        if each.id not in made:
            with inside(f"jobs[{number}]"):
                job = new_job(each, office, handlers)
                job.validate(max_payload_bytes)
                jobs.append(job)
    return jobs
