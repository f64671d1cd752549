"""Bounds of requests and pages over HTTP: 422 with the field, stated in the description of the API; shorter pages."""

from typing import Any

import pytest

from hanbeon import App
from hanbeon.domain.bounds import PAGE_BYTES
from tests.server.client import Client, serving

_MANY = {"depends_on": ["a"] * 10_000}
_ROLES = dict.fromkeys(map(str, range(1_001)), 1)


@pytest.mark.parametrize(
    ("jobs", "field"),
    [
        ([], "jobs"),
        ([{}] * 10_001, "jobs"),
        ([{}] * 200_001, "body"),
        ([1] * 550_001, "body"),
        ([{"key": "a"}, *[_MANY] * 21], "jobs"),
        ([{"key": "a"}, {"depends_on": ["a"] * 10_001}], "jobs[1].depends_on"),
        ([{"role": str(number)} for number in range(1_001)], "jobs[1000].role"),
    ],
    ids=["none", "jobs", "objects", "members", "edges", "edges-of-a-job", "roles"],
)
async def test_batch_beyond_a_bound_is_rejected(sqlite_server: Client, jobs: list[Any], field: str) -> None:
    office = (await sqlite_server.post("/api/offices", {"name": "large"})).json["id"]
    rejected = await sqlite_server.post(f"/api/offices/{office}/jobs", {"jobs": jobs})
    assert (rejected.status, rejected.code, rejected.json["field"]) == (422, "invalid", field)
    stats = (await sqlite_server.get(f"/api/offices/{office}/scheduler/stats")).json
    assert stats["pending"] == stats["ready"] == 0


async def test_office_with_too_many_roles_is_rejected(sqlite_server: Client) -> None:
    for body, field in (
        ({"config": {"maxConcurrentByRole": _ROLES}}, "config.maxConcurrentByRole"),
        ({"sessions": dict.fromkeys([*_ROLES, "default"], "report")}, "sessions"),
    ):
        rejected = await sqlite_server.post("/api/offices", {"name": "large", **body})
        assert (rejected.status, rejected.json["field"]) == (422, field)
    full = {"maxConcurrentByRole": dict.fromkeys(list(_ROLES)[:1_000], 1)}
    office = (await sqlite_server.post("/api/offices", {"name": "x", "config": full})).json["id"]
    config = f"/api/offices/{office}/scheduler/config"
    rejected = await sqlite_server.ask("PATCH", config, {"maxConcurrentByRole": {"one more": 1}})
    assert (rejected.status, rejected.json["field"]) == (422, "maxConcurrentByRole")
    exchanged = {"maxConcurrentByRole": {"one more": 1, "0": None}}
    assert (await sqlite_server.ask("PATCH", config, exchanged)).status == 200


async def test_description_states_the_bounds(sqlite_server: Client) -> None:
    schemas = (await sqlite_server.get("/openapi.json")).json["components"]["schemas"]
    jobs = schemas["JobBatch"]["properties"]["jobs"]
    assert (jobs["minItems"], jobs["maxItems"]) == (1, 10_000)
    assert schemas["JobSpec"]["properties"]["depends_on"]["anyOf"][0]["maxItems"] == 10_000
    assert schemas["ConfigChange"]["properties"]["maxConcurrentByRole"]["maxProperties"] == 1_000


async def test_page_of_large_results_is_cut(app: App) -> None:
    """Seven results of a megabyte, are two pages of whole jobs."""

    @app.task
    async def large() -> str:
        return "\x7f" * 1_000_000

    async with serving(app, work=True) as client:
        made = await client.post("/api/offices", {"name": "large", "sessions": {"default": "large"}})
        jobs = f"/api/offices/{made.json['id']}/jobs"
        ids = [job["id"] for job in (await client.post(jobs, {"jobs": [{}] * 7})).json["jobs"]]
        for job_id in ids:
            await app.job(job_id).result(timeout=60)
        first = await client.get(f"{jobs}?limit=1000")
        assert len(first.body) < PAGE_BYTES + 100_000
        second = await client.get(f"{jobs}?limit=1000&cursor={first.json['next_cursor']}")
        assert second.json["next_cursor"] is None
        assert [job["id"] for page in (first, second) for job in page.json["items"]] == ids
        assert all(len(job["result"]) == 1_000_000 for job in first.json["items"])
