"""Schedules, their times to come, and what became of their fires."""

from __future__ import annotations

from hanbeon.domain.access import Need
from hanbeon.domain.schedules.history import FireOutcome
from hanbeon.errors import Changed, ScheduleDeclared, ScheduleNameTaken, ScheduleNotFound
from hanbeon.server.offices.bodies import Cursor, JobId, Name, PageSize
from hanbeon.server.operation import Operation, Reply, etag
from hanbeon.server.request import ApiRequest
from hanbeon.server.schedules import bodies
from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.service import Schedules

SCHEDULES = "/api/schedules"
SCHEDULE = f"{SCHEDULES}/{{id}}"


def operations(schedules: Schedules) -> list[Operation]:
    async def create(ask: ApiRequest) -> Reply:
        made = await schedules.create(await ask.body(), by=ask.who.user, schedule_id=ask.id_of())
        return Reply(made, 201, {"Location": f"{SCHEDULES}/{made.id}", **etag(made.version)})

    async def list_all(ask: ApiRequest) -> Reply:
        return Reply(await schedules.list(**ask.query))

    async def get(ask: ApiRequest) -> Reply:
        return _versioned(await schedules.get(ask.path("id")))

    async def change(ask: ApiRequest) -> Reply:
        return _versioned(await schedules.change(ask.path("id"), await ask.body(), expected=ask.expected_version()))

    async def pause(ask: ApiRequest) -> Reply:
        return _versioned(await schedules.pause(ask.path("id")))

    async def resume(ask: ApiRequest) -> Reply:
        return _versioned(await schedules.resume(ask.path("id")))

    async def delete(ask: ApiRequest) -> Reply:
        await schedules.delete(ask.path("id"), expected=ask.expected_version())
        return Reply(None, 204)

    async def preview(ask: ApiRequest) -> Reply:
        return Reply(await schedules.preview(ask.path("id"), **ask.query))

    async def preview_of(ask: ApiRequest) -> Reply:
        return Reply(await schedules.preview_of(await ask.body()))

    async def fires(ask: ApiRequest) -> Reply:
        return Reply(await schedules.fires(ask.path("id"), **ask.query))

    return [
        Operation(
            *("POST", SCHEDULES, Need.WRITE, create, "Make a schedule of a task that is known."),
            body=bodies.ScheduleBody,
            shapes={201: schemas.Schedule},
            creates=True,
            refuses=(ScheduleNameTaken,),
            tagged=True,
            gives={"id": "$response.body#/id"},
        ),
        Operation(
            *("GET", SCHEDULES, Need.READ, list_all, "List schedules, a page at a time."),
            query={"task_id": Name, "paused": bool, "name": Name, "cursor": JobId, "limit": PageSize},
            shapes={200: schemas.SchedulePage},
        ),
        # Before the paths with an id in this place.
        Operation(
            *("POST", f"{SCHEDULES}/preview", Need.READ, preview_of, "When a schedule would fire; nothing is made."),
            body=bodies.PreviewBody,
            shapes={200: schemas.Preview},
        ),
        Operation(
            *("GET", SCHEDULE, Need.READ, get, "Show a schedule."),
            shapes={200: schemas.Schedule},
            refuses=(ScheduleNotFound,),
            tagged=True,
        ),
        Operation(
            *("PATCH", SCHEDULE, Need.WRITE, change, "Change what is given of it; in force at once."),
            body=bodies.ScheduleChange,
            shapes={200: schemas.Schedule},
            refuses=(ScheduleNotFound, ScheduleNameTaken, ScheduleDeclared),
            tagged=True,
        ),
        Operation(
            *("DELETE", SCHEDULE, Need.WRITE, delete, "Delete it; what it has made stays until it is pruned."),
            shapes={204: None},
            refuses=(ScheduleNotFound, Changed),
        ),
        Operation(
            *("POST", f"{SCHEDULE}/pause", Need.WRITE, pause, "Fire no more until it is resumed."),
            shapes={200: schemas.Schedule},
            refuses=(ScheduleNotFound,),
            tagged=True,
        ),
        Operation(
            *("POST", f"{SCHEDULE}/resume", Need.WRITE, resume, "Go on with the next fire from now."),
            shapes={200: schemas.Schedule},
            refuses=(ScheduleNotFound,),
            tagged=True,
        ),
        Operation(
            *("GET", f"{SCHEDULE}/preview", Need.READ, preview, "The next fires, and what changes of clocks do."),
            query={"n": bodies.Fires},
            shapes={200: schemas.Preview},
            refuses=(ScheduleNotFound,),
        ),
        Operation(
            *("GET", f"{SCHEDULE}/fires", Need.READ, fires, "What became of its fires, the newest first."),
            query={"outcome": FireOutcome, "cursor": Cursor, "limit": PageSize},
            shapes={200: schemas.FirePage},
            refuses=(ScheduleNotFound,),
        ),
    ]


def _versioned(schedule: schemas.Schedule) -> Reply:
    return Reply(schedule, headers=etag(schedule.version))
