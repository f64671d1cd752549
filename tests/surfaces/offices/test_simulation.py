"""Simulations of an office's jobs, compared with what the engine does."""

from typing import Any

import pytest

from hanbeon.errors import Conflict
from hanbeon.surfaces.offices import schemas, simulation
from tests.surfaces.offices.office_kit import OfficeKit


async def _measure(office: OfficeKit, seconds: float, role: str) -> None:
    """Let one job of the task `hold` run for this long."""
    await office.one(handler="hold", role=role, urgent=True)
    await office.kit.start_ready()
    await office.kit.advance(seconds)
    office.gates.hold.set()
    await office.kit.settle()
    office.gates.hold.clear()


def _path(found: schemas.Simulation) -> list[tuple[Any, ...]]:
    return [(each.key, each.start_ms, each.end_ms, each.waited_for, each.limit) for each in found.critical_path]


async def test_simulation_uses_measured_runs_under_the_limits(office: OfficeKit) -> None:
    await _measure(office, 10, "FE")
    await _measure(office, 30, "BE")
    await office.make(
        {"key": "a", "role": "FE", "handler": "hold"},
        {"key": "b", "role": "FE", "handler": "hold"},
        {"key": "c", "role": "BE", "handler": "hold", "depends_on": ["b"]},
    )
    found = await office.offices.simulate(office.id)
    assert (found.jobs, found.never, found.assumed) == (3, 0, 0)
    assert (found.makespan_ms, found.unlimited_ms) == (50_000, 40_000)
    assert _path(found) == [
        ("a", 0, 10_000, None, None),
        ("b", 10_000, 20_000, "slot", "maxConcurrentByRole.FE"),
        ("c", 20_000, 50_000, "dependency", None),
    ]
    assert found.add_slot == schemas.AddedSlot(limits={"maxConcurrentByRole.FE": 2}, makespan_ms=40_000)
    tried = await office.offices.simulate(office.id, maxConcurrentByRole={"FE": 2})
    assert (tried.makespan_ms, tried.add_slot) == (40_000, None)


def _held(key: str, *after: str, **more: Any) -> dict[str, Any]:
    return {"key": key, "handler": "hold", "depends_on": list(after), **more}


@pytest.mark.parametrize(
    ("seconds", "jobs"),
    [
        # The one before the last goes first: in any other order it takes longer.
        (20, [_held("a"), _held("b"), _held("c", priority=-1), _held("d", "c")]),
        (30, [_held("a"), _held("b"), _held("c", priority=1), _held("d", "c")]),
        (30, [_held("a", role="FE"), _held("b", role="FE"), _held("c", role="BE"), _held("d", "b", role="BE")]),
    ],
    ids=["first by priority", "last by priority", "roles"],
)
async def test_engine_takes_as_long_as_the_simulation_says(
    office: OfficeKit, seconds: int, jobs: list[dict[str, Any]]
) -> None:
    await _measure(office, 10, "FE")
    await _measure(office, 10, "BE")
    await office.offices.change_config(office.id, maxConcurrentJobs=2)
    made = await office.make(*jobs)
    found = await office.offices.simulate(office.id)
    assert found.makespan_ms == seconds * 1_000
    elapsed = 0
    while set(await office.status(*made)) != {"done"}:
        await office.kit.start_ready()
        await office.kit.advance(10)
        elapsed += 10
        office.gates.hold.set()
        await office.kit.settle()
        office.gates.hold.clear()
    assert elapsed == seconds


async def test_time_of_a_running_job_counts(office: OfficeKit) -> None:
    await _measure(office, 10, "FE")
    await office.one(key="a", role="FE", handler="hold")
    await office.kit.start_ready()
    await office.kit.advance(4)
    assert (await office.offices.simulate(office.id)).makespan_ms == 6_000
    await office.kit.advance(20)
    assert (await office.offices.simulate(office.id)).makespan_ms == 0
    office.gates.hold.set()
    await office.kit.settle()


async def test_run_of_another_office_is_used_where_there_is_none_here(office: OfficeKit) -> None:
    await _measure(office, 10, "FE")
    await office.open(name="another")
    await office.make({"handler": "hold", "role": "QA"}, {"handler": "say"})
    found = await office.offices.simulate(office.id, assumed_ms=5_000)
    assert (found.makespan_ms, found.assumed) == (10_000, 1)


async def test_jobs_that_never_run_are_left_out(office: OfficeKit) -> None:
    first = await office.one(key="first", handler="fail", max_retries=0)
    await office.make({"key": "second", "depends_on": [first.id]})
    await office.kit.run_all()
    await office.offices.change(office.id, sessions={"default": None})
    await office.make({"key": "nobody's"}, {"handler": "say"})
    found = await office.offices.simulate(office.id)
    assert (found.jobs, found.never) == (1, 2)


async def test_office_without_unfinished_jobs_takes_no_time(office: OfficeKit) -> None:
    found = await office.offices.simulate(office.id)
    assert (found.jobs, found.makespan_ms, found.critical_path, found.add_slot) == (0, 0, [], None)


async def test_too_many_jobs_are_rejected(office: OfficeKit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "SIMULATED_MOST", 2)
    await office.make({}, {}, {})
    with pytest.raises(Conflict, match="over 2 unfinished jobs"):
        await office.offices.simulate(office.id)
