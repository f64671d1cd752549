"""The sweep: for every write of the store, once, not twice and not none, wherever its connection is lost."""

from __future__ import annotations

import pytest

from hanbeon.service.verify import render
from hanbeon.store.operations.complete import recover
from hanbeon.surfaces.verify import verify
from tests.store.write_operations import writing_operations
from tests.storm.lost_commits import export_cases, job_cases, stream_cases, surface_cases, workflow_cases
from tests.storm.lost_commits.scene import LEASE, Case, Scene, Stage, stage
from tests.storm.lost_commits.tasks import add_tasks
from tests.storm.sizes import LONG

CASES: list[Case] = [
    *(*job_cases.CASES, *surface_cases.CASES, *workflow_cases.CASES),
    *(*export_cases.CASES, *stream_cases.CASES),
]
FAST = [job_cases.enqueue_one, job_cases.hand_back, surface_cases.manual_runs]
# Here and not in the test: CPython 3.11 may fail to build a syntax tree while finalizers of coroutines run.
WRITING = writing_operations()
_MOST_COMMITS = 200
_EVERY = 20
"""The cost of a case is the square of its commits: of a long one, each further commit is lost in one way on one store,
and in both ways on both only with HANBEON_CHAOS=long."""
SQLITE_ALONE = {
    "fast.single.enqueue_within",
    *(f"fast.sqlite.{each}" for each in ("_claim", "_succeed", "_write_groups")),
}
"""Parts of the fast paths, swept with these on SQLite, whose thread the look at calls does not see."""
NOT_SWEPT = {
    "claim.claim_these": "for test kits only",
    "incarnation.begin_incarnation": "by `hanbeon restore` alone; repeated, it begins another in which nothing runs",
    "instances.note_blocked": "by the watchdog, over a connection of its own, again with each renewal",
}


async def test_every_write_of_the_store_is_swept(postgres_url: str) -> None:
    """The operations are found in the source of the store: one that no case calls fails here."""
    found: set[str] = set()
    async with stage(postgres_url) as place:
        add_tasks(place.app, place)
        for case in CASES:
            found |= (await _play(place, case, 1, None)).operations
    assert WRITING - found == NOT_SWEPT.keys() | SQLITE_ALONE


@pytest.mark.short
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("case", FAST, ids=lambda case: case.__name__)
async def test_lost_commit_is_repeated_to_one_effect(database_url: str, case: Case, when: str) -> None:
    await _sweep(database_url, case, when)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
async def test_every_lost_commit_is_repeated_to_one_effect(database_url: str, case: Case, when: str) -> None:
    await _sweep(database_url, case, when)


async def _sweep(url: str, case: Case, when: str) -> None:
    """Play the case again and again, each time with the next commit lost, until there is none left to lose."""
    async with stage(url) as place:
        add_tasks(place.app, place)
        for number in range(1, _MOST_COMMITS):
            if not LONG and number > _EVERY and (number + 2 * (when == "after") + url.startswith("sqlite")) % 4:
                continue
            scene = await _play(place, case, number, when)
            if not scene.struck:
                assert number > 1, "the case commits nothing"
                return
    raise AssertionError(f"more than {_MOST_COMMITS} commits in one case")


async def _play(place: Stage, case: Case, number: int, when: str | None) -> Scene:
    scene = place.scene(number, when)
    await case(scene)
    if when is not None:
        report = await verify(place.app.store)
        assert report.sound, f"commit {number}: {render(report)}"
    await place.app.cancel_where()
    await scene.clock.advance(LEASE + 1)
    while await place.app.store.write(lambda tx: recover(tx, place.app.store.lanes, 1_000)):
        pass
    return scene
