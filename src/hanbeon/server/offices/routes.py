"""Offices themselves, and the scheduler of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hanbeon.domain.access import Need
from hanbeon.errors import Conflict, InvalidInput, OfficeNotFound
from hanbeon.server.offices import bodies
from hanbeon.server.operation import Operation, Reply, etag
from hanbeon.server.request import ApiRequest
from hanbeon.surfaces.offices import schemas
from hanbeon.surfaces.offices.config import JobSchedulerConfig
from hanbeon.surfaces.offices.service import Offices

OFFICES = "/api/offices"
OFFICE = "/api/offices/{id}"
_PAGE: Mapping[str, Any] = {"cursor": bodies.JobId, "limit": bodies.PageSize}


def operations(offices: Offices) -> list[Operation]:
    async def create(ask: ApiRequest) -> Reply:
        made = await offices.create(await ask.body(), office_id=ask.id_of())
        return Reply(made, 201, {"Location": f"{OFFICES}/{made.id}", **etag(made.version)})

    async def list_all(ask: ApiRequest) -> Reply:
        return Reply(await offices.list(**ask.query))

    async def get(ask: ApiRequest) -> Reply:
        found = await offices.get(ask.path("id"))
        return Reply(found, headers=etag(found.version))

    async def change(ask: ApiRequest) -> Reply:
        changed = await offices.change(ask.path("id"), await ask.body(), expected=ask.expected_version())
        return Reply(changed, headers=etag(changed.version))

    async def delete(ask: ApiRequest) -> Reply:
        await offices.delete(ask.path("id"), **ask.query)
        return Reply(None, 204)

    async def stats(ask: ApiRequest) -> Reply:
        return Reply(await offices.stats(ask.path("id")))

    async def config(ask: ApiRequest) -> Reply:
        found = await offices.config(ask.path("id"))
        return Reply(found.config, headers=etag(found.version))

    async def change_config(ask: ApiRequest) -> Reply:
        told = await ask.body()
        try:
            changed = await offices.change_config(ask.path("id"), told, expected=ask.expected_version())
        except InvalidInput as error:
            # Where an office is made its config is a part of the body; here it is the body.
            error.field = (error.field or "").removeprefix("config").removeprefix(".") or None
            raise
        return Reply(changed.config, headers=etag(changed.version))

    async def process(ask: ApiRequest) -> Reply:
        return Reply(await offices.process(ask.path("id")))

    scheduler = f"{OFFICE}/scheduler"
    return [
        Operation(
            *("POST", OFFICES, Need.ADMIN, create, "Make an office."),
            body=bodies.OfficeBody,
            shapes={201: schemas.Office},
            creates=True,
            tagged=True,
            gives={"id": "$response.body#/id"},
        ),
        Operation(
            *("GET", OFFICES, Need.READ, list_all, "List offices, a page at a time."),
            query=_PAGE,
            shapes={200: schemas.OfficePage},
        ),
        Operation(
            *("GET", OFFICE, Need.READ, get, "Show an office."),
            shapes={200: schemas.Office},
            refuses=(OfficeNotFound,),
            tagged=True,
        ),
        Operation(
            *("PATCH", OFFICE, Need.ADMIN, change, "Change an office: its name, sessions, and whom it tells."),
            body=bodies.OfficeChange,
            shapes={200: schemas.Office},
            refuses=(OfficeNotFound,),
            tagged=True,
        ),
        Operation(
            *("DELETE", OFFICE, Need.ADMIN, delete, "Delete an office; with cancel=true, whatever it has unfinished."),
            query={"cancel": bool},
            shapes={204: None},
            refuses=(OfficeNotFound, Conflict),
        ),
        Operation(
            *("GET", f"{scheduler}/stats", Need.READ, stats, "How many jobs are where."),
            shapes={200: schemas.JobQueueStats},
            refuses=(OfficeNotFound,),
        ),
        Operation(
            *("GET", f"{scheduler}/config", Need.READ, config, "How it runs jobs; the ETag is for If-Match."),
            shapes={200: JobSchedulerConfig},
            refuses=(OfficeNotFound,),
            tagged=True,
        ),
        Operation(
            *("PATCH", f"{scheduler}/config", Need.ADMIN, change_config, "Merge changes into the config."),
            body=bodies.ConfigChange,
            shapes={200: JobSchedulerConfig},
            refuses=(OfficeNotFound,),
            tagged=True,
        ),
        Operation(
            *("POST", f"{scheduler}/process", Need.WRITE, process, "Run a scheduling cycle now."),
            shapes={200: schemas.Processed},
            refuses=(OfficeNotFound,),
        ),
    ]
