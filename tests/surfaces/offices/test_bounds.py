"""Bounds of an office: roles in all, and graphs that Python callers create in one call."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from hanbeon import App
from hanbeon.domain.bounds import BATCH_JOBS, GRAPH_EDGES, GRAPH_JOBS, JOB_EDGES
from hanbeon.errors import InvalidInput
from hanbeon.surfaces.offices.service import Offices
from tests.surfaces.offices.office_kit import OfficeKit

pytestmark = pytest.mark.usefixtures("few_roles")


@pytest.fixture
def few_roles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.surfaces.offices.roles.ROLES", 6)


async def _field(call: Awaitable[Any]) -> str | None:
    """The field that a rejected call names."""
    with pytest.raises(InvalidInput) as refusal:
        await call
    return refusal.value.field


async def test_roles_of_config_sessions_and_jobs_add_up(office: OfficeKit) -> None:
    await office.offices.change_config(office.id, maxConcurrentByRole={"a": 1, "b": 1})
    await office.offices.change(office.id, sessions={"b": "work", "c": "work", "d": "work"})
    await office.make({"role": "e"}, {"role": "a"}, {})
    refusal = await office.refused(InvalidInput, {"role": "f"}, {"role": "e"}, {"role": "g"}, {"role": "h"})
    assert isinstance(refusal, InvalidInput)
    assert refusal.field == "jobs[2].role"
    assert "must leave the office at most 6 roles, got 7" in str(refusal)
    await office.make({"role": "f"})
    for role in "abcdef":
        await office.make({"role": role})
    sessions = office.offices.change(office.id, sessions={"g": "work"})
    assert await _field(sessions) == "sessions"
    limits = office.offices.change_config(office.id, maxConcurrentByRole={"g": 1})
    assert await _field(limits) == "maxConcurrentByRole"
    # Roles that its jobs have may get limits and sessions, and a role that only the sessions had makes room.
    await office.offices.change_config(office.id, maxConcurrentByRole={"e": 1})
    await office.offices.change(office.id, sessions={"f": "work", "c": None})
    await office.make({"role": "d"})


async def test_new_office_with_too_many_roles_is_rejected(office: OfficeKit) -> None:
    roles = dict.fromkeys("abcdefg", 1)
    assert await _field(office.open(config={"maxConcurrentByRole": roles})) == "config.maxConcurrentByRole"
    assert await _field(office.open(sessions=dict.fromkeys("abcdefg", "work"))) == "sessions"
    await office.open(config={"maxConcurrentByRole": dict.fromkeys("abcdef", 1)})


async def test_removed_limits_are_not_remembered(office: OfficeKit) -> None:
    for role in "abcdefghij":
        await office.offices.change_config(office.id, maxConcurrentByRole={role: 1})
        await office.offices.change_config(office.id, maxConcurrentByRole={role: None, "FE": None})
    assert (await office.offices.config(office.id)).config.maxConcurrentByRole == {"BE": 1, "QA": 1, "DevOps": 1}
    record = await office.offices._record(office.id)
    assert record.config == {"maxConcurrentByRole": {"FE": None}}


async def test_concurrent_batches_share_the_last_role(office: OfficeKit) -> None:
    await office.make(*({"role": role} for role in "abcde"))
    made = await asyncio.gather(*(office.make({"role": role}) for role in ("x", "y", "z", "x")), return_exceptions=True)
    roles = {job.role for batch in made if not isinstance(batch, BaseException) for job in batch}
    assert len(roles) == 1
    assert all(isinstance(batch, InvalidInput) for batch in made if isinstance(batch, BaseException))


async def test_python_callers_may_exceed_the_bounds_of_http(app: App) -> None:
    """One job more than a request may have, and one edge more than a job may have there."""
    offices = Offices(app)
    office = await offices.create(name="large")
    jobs: list[dict[str, Any]] = [{"key": str(number)} for number in range(max(BATCH_JOBS, JOB_EDGES) + 1)]
    jobs.append({"depends_on": [job["key"] for job in jobs]})
    made = await offices.create_jobs(office.id, jobs=jobs)
    assert len(made.jobs) == len(jobs)
    assert len(made.jobs[-1].depends_on) == len(jobs) - 1
    with pytest.raises(InvalidInput):
        await offices.create_jobs(office.id, jobs=[])


@pytest.mark.slow
async def test_python_takes_the_largest_graph_in_one_call(app: App) -> None:
    offices = Offices(app)
    office = await offices.create(name="largest")
    each = GRAPH_EDGES // GRAPH_JOBS
    jobs = [
        {"key": str(number), "depends_on": [str(number - back) for back in range(1, each + 1) if number >= back]}
        for number in range(GRAPH_JOBS)
    ]
    jobs[-1]["depends_on"] = [str(number) for number in range(2 * each + each * (each + 1) // 2 - each)]
    assert sum(len(job["depends_on"]) for job in jobs) == GRAPH_EDGES
    made = await offices.create_jobs(office.id, jobs=jobs)
    assert len(made.jobs) == GRAPH_JOBS
    assert (await offices.stats(office.id)).pending == GRAPH_JOBS - 1
