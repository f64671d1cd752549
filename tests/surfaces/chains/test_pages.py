"""Pages of chains and of runs end early where their texts are large."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.surfaces.chains.chain_kit import ChainKit

_ROOM = 10_000
_LARGE = "x" * 4_000
"""Two of these fit a page, and three do not."""


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.store.operations.pages.PAGE_BYTES", _ROOM)


async def _pages(read: Callable[..., Awaitable[Any]]) -> list[list[Any]]:
    """The items of every page of a list."""
    page = await read(limit=1_000)
    found = [page.items]
    while page.next_cursor is not None:
        page = await read(limit=1_000, cursor=page.next_cursor)
        found.append(page.items)
    return found


def _numbers(pages: list[list[Any]]) -> list[int]:
    return [len(items) for items in pages]


async def test_pages_of_chains_are_bounded_in_bytes(chain_kit: ChainKit) -> None:
    """Whatever is large: an argument, a context, or a return of the last run."""
    chains = chain_kit.chains
    made = [await chain_kit.chain({"arguments": _LARGE}) for _ in range(5)]
    for filter in ({}, {"state": "READY"}):
        pages = await _pages(lambda filter=filter, **more: chains.list(**filter, **more))
        assert [chain.queue_id for items in pages for chain in items] == [chain.queue_id for chain in made]
        assert _numbers(pages) == [2, 2, 1]
    await chain_kit.script("UPDATE hanbeon.chain_job SET arguments = '1'")
    assert _numbers(await _pages(chains.list)) == [5]
    for chain in made:
        await chains.run(chain, context={"x": _LARGE})
    assert _numbers(await _pages(chains.list)) == [2, 2, 1]
    await chain_kit.script("UPDATE hanbeon.chain SET context = '{}'")
    await chain_kit.script(f"UPDATE hanbeon.chain_step SET returned = '\"{_LARGE}\"'")
    assert _numbers(await _pages(chains.list)) == [2, 2, 1]


async def test_pages_of_runs_are_bounded_in_bytes(chain_kit: ChainKit) -> None:
    chain = await chain_kit.chain({})
    for _ in range(5):
        await chain_kit.chains.run(chain)
    await chain_kit.script(f"UPDATE hanbeon.chain_step SET returned = '\"{_LARGE}\"'")
    pages = await _pages(lambda **more: chain_kit.chains.runs(chain, **more))
    assert [[run.run for run in items] for items in pages] == [[5, 4], [3, 2], [1]]
    assert all(len(run.queue_return) == 1 for items in pages for run in items)


async def test_page_ends_where_jobs_are_many(chain_kit: ChainKit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.surfaces.chains.rows._JOBS_A_PAGE", 4)
    for _ in range(5):
        await chain_kit.chain({}, {})
    assert _numbers(await _pages(chain_kit.chains.list)) == [2, 2, 1]
