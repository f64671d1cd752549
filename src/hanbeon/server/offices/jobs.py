"""The jobs of an office."""

from __future__ import annotations

from typing import Any

from hanbeon.domain.access import Need
from hanbeon.errors import Conflict, IdAlreadyUsed, JobNotFound, OfficeNotFound, WrongState
from hanbeon.server.offices import bodies
from hanbeon.server.offices.routes import OFFICE
from hanbeon.server.operation import Operation, Reply
from hanbeon.server.request import ApiRequest
from hanbeon.surfaces.offices import schemas
from hanbeon.surfaces.offices.service import Offices
from hanbeon.surfaces.offices.vocabulary import JobStatus

JOBS = f"{OFFICE}/jobs"
JOB = f"{JOBS}/{{jobId}}"
_ABSENT = (OfficeNotFound, JobNotFound)


def operations(offices: Offices) -> list[Operation]:
    async def create(ask: ApiRequest) -> Reply:
        told = with_ids(ask, await ask.body())
        return Reply(bodies.JobsMade(jobs=await offices.create_jobs(ask.path("id"), told)), 201)

    async def list_all(ask: ApiRequest) -> Reply:
        return Reply(await offices.jobs(ask.path("id"), **ask.query))

    async def get(ask: ApiRequest) -> Reply:
        return Reply(await offices.job(*_job(ask)))

    async def log(ask: ApiRequest) -> Reply:
        return Reply(await offices.log(*_job(ask), **ask.query))

    async def explain(ask: ApiRequest) -> Reply:
        return Reply(await offices.explain(*_job(ask)))

    async def retry(ask: ApiRequest) -> Reply:
        return Reply(await offices.retry(*_job(ask)))

    async def cancel(ask: ApiRequest) -> Reply:
        answer = await offices.cancel(*_job(ask))
        return Reply(answer.job, 202 if answer.stopping else 200)

    async def cancel_all(ask: ApiRequest) -> Reply:
        return Reply(await offices.cancel_all(ask.path("id"), await ask.body({})))

    async def reprioritise(ask: ApiRequest) -> Reply:
        return Reply(await offices.reprioritise(*_job(ask), await ask.body()))

    async def graph(ask: ApiRequest) -> Reply:
        return Reply(await offices.graph(ask.path("id"), **ask.query))

    return [
        Operation(
            *("POST", JOBS, Need.WRITE, create, "Make jobs, all of them or none."),
            body=bodies.JobBatch,
            shapes={201: bodies.JobsMade},
            refuses=(OfficeNotFound, IdAlreadyUsed, Conflict),
            creates=True,
            gives={"id": "$request.path.id", "jobId": "$response.body#/jobs/0/id"},
        ),
        Operation(
            *("GET", JOBS, Need.READ, list_all, "List jobs in creation order, a page at a time."),
            query={
                "status": list[JobStatus],
                "role": bodies.NameOrEmpty,
                "task_id": bodies.NameOrEmpty,
                "cursor": bodies.Cursor,
                "limit": bodies.PageSize,
            },
            shapes={200: schemas.JobPage},
            refuses=(OfficeNotFound,),
        ),
        # Before the paths with an id in this place.
        Operation(
            *("POST", f"{JOBS}/cancel-all", Need.WRITE, cancel_all, "Cancel every unfinished job that matches."),
            body=bodies.CancelAll,
            may_be_empty=True,
            refuses=(OfficeNotFound,),
            shapes={200: schemas.CancelledAll},
        ),
        Operation(
            *("GET", JOB, Need.READ, get, "Show a job with its executions."),
            shapes={200: schemas.JobDetail},
            refuses=_ABSENT,
        ),
        Operation(
            *("GET", f"{JOB}/log", Need.READ, log, "What it printed, also while it runs; go on behind `after`."),
            query={"attempt": bodies.Attempt, "after": bodies.LogPlace, "limit": bodies.LogLines},
            shapes={200: schemas.Log},
            refuses=_ABSENT,
        ),
        Operation(
            *("GET", f"{JOB}/explain", Need.READ, explain, "Why it is not running."),
            shapes={200: schemas.Explanation},
            refuses=_ABSENT,
        ),
        Operation(
            *("POST", f"{JOB}/retry", Need.WRITE, retry, "Try a failed or cancelled job again."),
            shapes={200: schemas.Job},
            refuses=(*_ABSENT, WrongState, Conflict),
        ),
        Operation(
            *("POST", f"{JOB}/cancel", Need.WRITE, cancel, "Cancel it: 200 when that is done, 202 while it stops."),
            shapes={200: schemas.Job, 202: schemas.Job},
            refuses=(*_ABSENT, WrongState),
        ),
        Operation(
            *("PATCH", f"{JOB}/priority", Need.WRITE, reprioritise, "Move it within its office."),
            body=bodies.Priority,
            shapes={200: schemas.Job},
            refuses=(*_ABSENT, WrongState),
        ),
        Operation(
            *("GET", f"{OFFICE}/graph", Need.READ, graph, "Jobs and what they wait for, a page at a time."),
            query={"task_id": bodies.NameOrEmpty, "cursor": bodies.Cursor, "limit": bodies.PageSize},
            shapes={200: schemas.Graph},
            refuses=(OfficeNotFound,),
        ),
    ]


def with_ids(ask: ApiRequest, told: Any) -> Any:
    """The batch, with ids that the same request has again, where it may come again.

    Where a server died between making jobs and keeping its answer, the same request then finds them instead of making
    them twice.
    """
    if ask.seed is None or not isinstance(told, dict) or not isinstance(told.get("jobs"), list):
        return told
    jobs = [
        {**each, "id": ask.id_of(number)} if isinstance(each, dict) and each.get("id") is None else each
        for number, each in enumerate(told["jobs"])
    ]
    return {**told, "jobs": jobs}


def _job(ask: ApiRequest) -> tuple[str, str]:
    return ask.path("id"), ask.path("jobId")
