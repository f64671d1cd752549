"""Pages of every list are bounded in bytes: shorter pages, and every row exactly once."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec
import pytest

from hanbeon.store.operations import events as event_rows
from hanbeon.store.operations.events import events_after
from hanbeon.store.operations.pages import Slice, fit_page, merged
from hanbeon.surfaces.schedules.service import Schedules
from hanbeon.surfaces.stored_json import passed_through
from hanbeon.testing import TestKit
from tests.service.raw_sql import run_sql
from tests.surfaces.offices.office_kit import OfficeKit

_ROOM = 10_000
_LARGE = "x" * 4_000
"""Two of these fit a page, and three do not."""


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.store.operations.pages.PAGE_BYTES", _ROOM)
    monkeypatch.setattr("hanbeon.store.operations.queries.PAGE_BYTES", _ROOM)
    monkeypatch.setattr("hanbeon.store.operations.queries.PAGE_EDGES", 20)


@pytest.mark.parametrize(
    ("sizes", "limit", "kept", "more"),
    [
        ([], 3, 0, False),
        ([5, 5], 3, 2, False),
        ([3, 3, 3, 1], 3, 3, True),
        ([5, 5, 1], 3, 2, True),
        ([11, 1], 3, 1, True),
        ([11], 3, 1, False),
        ([0, 11], 3, 1, True),
    ],
)
def test_page_ends_where_rows_or_bytes_do(sizes: list[int], limit: int, kept: int, more: bool) -> None:
    assert fit_page(enumerate(sizes), limit, 10) == Slice(list(range(kept)), more)


def test_merged_page_ends_where_one_of_its_lists_goes_on() -> None:
    page = merged([Slice([1, 4], True), Slice([2, 3, 5, 6], False)], int, 10)
    assert page == Slice([1, 2, 3, 4], True)
    assert merged([Slice([1, 4], False), Slice([2, 3], False)], int, 3) == Slice([1, 2, 3], True)


async def _pages(read: Callable[..., Awaitable[Any]], **query: Any) -> list[Any]:
    """Every page of a list."""
    found: list[Any] = []
    cursor = None
    while not found or cursor is not None:
        found.append(await read(**query, **({} if cursor is None else {"cursor": cursor})))
        cursor = found[-1].next_cursor
    return found


def _numbers(pages: list[Any], name: str = "items") -> list[int]:
    return [len(getattr(page, name)) for page in pages]


@pytest.mark.usefixtures("small_pages")
async def test_jobs_with_large_results(office: OfficeKit) -> None:
    made = await office.make(*({"args": {"name": _LARGE}, "max_retries": 0} for _ in range(5)))
    pages = await _pages(lambda **query: office.offices.jobs(office.id, limit=1_000, **query))
    assert _numbers(pages) == [5], "arguments are not shown, and not counted"
    await office.kit.run_all()
    pages = await _pages(lambda **query: office.offices.jobs(office.id, limit=1_000, **query))
    assert _numbers(pages) == [2, 2, 1]
    assert [job.id for page in pages for job in page.items] == [job.id for job in made]
    assert all(job.result == _LARGE for page in pages for job in page.items)
    filtered = await _pages(lambda **query: office.offices.jobs(office.id, status=["done", "failed"], **query))
    assert _numbers(filtered) == [2, 2, 1]
    graph = await _pages(lambda **query: office.offices.graph(office.id, **query))
    assert _numbers(graph, "nodes") == [5], "results are not in the graph"


@pytest.mark.usefixtures("small_pages")
async def test_jobs_with_many_dependencies(office: OfficeKit) -> None:
    first = [{"key": f"a{number}"} for number in range(8)]
    names = [job["key"] for job in first]
    await office.make(*first, *({"key": f"b{number}", "depends_on": names} for number in range(5)))
    await office.make({"depends_on": [job.id for job in (await office.offices.jobs(office.id, limit=8)).items]})
    pages = await _pages(lambda **query: office.offices.jobs(office.id, limit=1_000, **query))
    assert _numbers(pages) == [10, 2, 2]
    assert [len(job.depends_on) for page in pages for job in page.items] == [0] * 8 + [8] * 6
    graph = await _pages(lambda **query: office.offices.graph(office.id, **query))
    assert _numbers(graph, "nodes") == [10, 2, 2]
    assert _numbers(graph, "edges") == [16, 16, 16]


@pytest.mark.usefixtures("small_pages")
async def test_repeated_batch_with_large_results_is_answered(office: OfficeKit) -> None:
    ids = [f"0189abcd-0000-7000-8000-{number:012}" for number in range(3)]
    batch = [{"id": job_id, "args": {"name": _LARGE}} for job_id in ids]
    await office.make(*batch)
    await office.kit.run_all()
    again = await office.make(*batch)
    assert [(job.id, job.status.value, job.result) for job in again] == [(job_id, "done", None) for job_id in ids]
    assert [job.result for job in await office.make(*batch[:2])] == [_LARGE] * 2


@pytest.mark.usefixtures("small_pages")
async def test_offices_with_large_sessions_and_listeners(office: OfficeKit) -> None:
    await office.offices.delete(office.id)
    roles = {f"{number}{'r' * 190}": "work" for number in range(20)}
    hooks = [
        {"url": f"https://example.org/{number}{_LARGE[:1_900]}", "secret": "whsec_" + "s3cret" * 6}
        for number in range(3)
    ]
    made = [
        (
            await office.open(
                sessions=roles,
            )
        ).id
        for _ in range(3)
    ]
    made += [(await office.open(webhooks=hooks)).id for _ in range(2)]
    pages = await _pages(lambda **query: office.offices.list(limit=1_000, **query))
    assert sorted(each.id for page in pages for each in page.items) == sorted(made)
    assert max(_numbers(pages)) == 2


@pytest.mark.usefixtures("small_pages")
async def test_executions_and_schedules_with_large_contents(kit: TestKit) -> None:
    @kit.app.task
    async def echo(text: str) -> str:
        return text

    schedules = Schedules(kit.app, kit.worker)
    for _ in range(5):
        await schedules.run("echo", {"text": _LARGE})
        await kit.run_all()
    for query in ({}, {"task": "echo"}, {"type": "MANUAL"}, {"status": ["SUCCESS"]}):
        pages = await _pages(lambda query=query, **more: schedules.executions(limit=1_000, **query, **more))
        assert _numbers(pages) == [2, 2, 1], query
        assert len({each.execution_id for page in pages for each in page.items}) == 5
    made = [(await schedules.create("echo", cron="0 9 * * *", args={"text": _LARGE})).id for _ in range(5)]
    for filter in ({}, {"task": "echo"}, {"paused": False}):
        pages = await _pages(lambda filter=filter, **more: schedules.list(limit=1_000, **filter, **more))
        assert _numbers(pages) == [2, 2, 1], filter
        assert sorted(each.id for page in pages for each in page.items) == sorted(made)


async def test_large_events_are_read_in_bounded_pages(office: OfficeKit, monkeypatch: pytest.MonkeyPatch) -> None:
    """An event of a job with many dependencies is large: batches are split, and pages end early."""
    monkeypatch.setattr("hanbeon.store.operations.events._BATCH_BYTES", 5_000)
    monkeypatch.setattr("hanbeon.store.operations.pages.PAGE_BYTES", _ROOM)
    store = office.kit.app.store
    before = await store.read(event_rows.last_event_id)
    first = [{"key": f"a{number}"} for number in range(50)]
    names = [job["key"] for job in first]
    made = await office.make(*first, *({"depends_on": names} for _ in range(10)))
    await store.number_events()
    after, found, pages = before, [], 0
    while page := await store.read(partial(events_after, after=after)):
        after = page[-1].id
        found += [event.job_id for event in page if event.job_id is not None]
        pages += 1
        assert len(msgspec.json.encode(page)) < _ROOM + 1_000
    assert found == [job.id for job in made]
    assert pages > 2
    events_of_office = await office.events()
    assert len(events_of_office) == 50, "only jobs that are ready"


async def test_stored_json_is_passed_through(office: OfficeKit) -> None:
    """A value that no limit would admit today neither fails a list nor is changed."""
    (job,) = await office.make({})
    deep = "[" * 5_000 + "1.0e0" + "]" * 5_000
    await office.kit.run_all()

    await run_sql(office.kit.app.store, "UPDATE hanbeon.job SET result = $1 WHERE id = $2", deep, job.id)
    offices = type(office.offices)(office.kit.app, stored_json=passed_through)
    page = msgspec.json.encode(await offices.jobs(office.id))
    assert deep.encode() in page
    assert deep.encode() in msgspec.json.encode(await offices.job(office.id, job.id))
