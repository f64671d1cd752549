"""Whatever is created under something while that is deleted: one of the two is refused, on all surfaces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App
from hanbeon.errors import Conflict, NotFound
from hanbeon.surfaces.verify import verify
from hanbeon.surfaces.workflows.scheduler import LocalRuns
from tests.databases.locks import somebody_waits
from tests.surfaces.chains.chain_kit import LIBRARY
from tests.surfaces.deletion_cases import CASES, Case
from tests.surfaces.offices.office_kit import add_tasks

_UNFINISHED = ["pending", "ready", "running"]
_WRITES_MOST = 4
Call = Callable[[], Awaitable[Any]]


@pytest.fixture
async def apps(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[App]]:
    """Two instances on one database: one creates, the other deletes. Neither runs a workflow that it executes."""

    async def not_at_all(*_: Any) -> None: ...

    monkeypatch.setattr(LocalRuns, "until_ended", not_at_all)
    folders: dict[str, Any] = {"jobs_export_path": str(tmp_path / "exports"), "replay_path": str(tmp_path / "replays")}
    apps = [App(database_url, chain_libraries=LIBRARY, **folders) for _ in range(2)]
    for app in apps:
        add_tasks(app)
        await app.open()
    yield apps
    for app in apps:
        await app.close()


@pytest.mark.parametrize("first", ["create", "delete"])
async def test_one_comes_between_the_transactions_of_the_other(apps: list[App], first: str) -> None:
    """The one has read what it needs, and is about to write, when the other is done from its beginning to its end."""

    async def race(one: App, begin: Call, other: Call, nth: int) -> tuple[Any, Any] | None:
        rest: list[Any] = []

        async def before() -> None:
            rest.append(await _outcome(other))

        with _Door(one, nth, before=before):
            answer = await _outcome(begin)
        return (answer, rest[0]) if rest else None

    await _try_all(apps, first, race)


@pytest.mark.parametrize("first", ["create", "delete"])
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
async def test_one_waits_for_the_open_transaction_of_the_other(apps: list[App], first: str) -> None:
    """The one has written all and not yet committed when the other begins. SQLite has one writer at a time."""

    async def race(one: App, begin: Call, other: Call, nth: int) -> tuple[Any, Any] | None:
        written, may_commit = asyncio.Event(), asyncio.Event()

        async def after() -> None:
            written.set()
            await may_commit.wait()

        with _Door(one, nth, after=after):
            beginning = asyncio.create_task(_outcome(begin))
            seen = asyncio.create_task(written.wait())
            await asyncio.wait((beginning, seen), return_when=asyncio.FIRST_COMPLETED)
            if not written.is_set():
                seen.cancel()
                return None
            rest = asyncio.create_task(_outcome(other))
            await somebody_waits(one.settings.database_url, rest)
            may_commit.set()
            return await beginning, await rest

    await _try_all(apps, first, race)


async def _try_all(apps: list[App], first: str, race: Callable[..., Awaitable[Any]]) -> None:
    """Try each case around each write of the one that begins; name all that leave something without an owner."""
    wrong = []
    for name, case in CASES.items():
        for nth in range(_WRITES_MOST):
            found = await _try(apps, case, first, race, nth)
            if found is None:
                assert nth or name == "office: a job", f"{name}: it writes nothing"
                break
            wrong += [f"{name}, {first} first, write {nth}: {each}" for each in found]
    assert wrong == []


async def _try(apps: list[App], case: Case, first: str, race: Any, nth: int) -> list[str] | None:
    creator, deleter = apps
    owner, known = await case.arrange(creator)
    before = await _unfinished(creator)
    calls: list[Call] = [lambda: case.create(creator, owner, known), lambda: case.delete(deleter, owner)]
    if first == "create":
        answers = await race(creator, *calls, nth)
    else:
        answers = await race(deleter, *reversed(calls), nth)
    if answers is None:
        return None
    created, deleted = answers if first == "create" else reversed(answers)
    wrong = [repr(each) for each in (created, deleted) if isinstance(each, Exception) and not _is_refusal(each)]
    if not isinstance(deleted, Exception) and not case.stays:
        left = await _unfinished(creator) - before
        wrong += [f"{created!r} left {left} unfinished"] if left else []
    wrong += [each.code.value for each in (await verify(creator.store)).findings]
    await creator.engine.bulk(action="cancel", filter={"queue": "default"})  # A task runs once at a time.
    return wrong


def _is_refusal(error: Exception) -> bool:
    return isinstance(error, NotFound | Conflict)


async def _unfinished(app: App) -> set[str]:
    return {each.id for each in (await app.engine.jobs(state=_UNFINISHED, limit=500)).items}


async def _outcome(call: Call) -> Any:
    try:
        return await call()
    except Exception as error:
        return error


class _Door:
    """Stops an instance before its nth write, or before the commit of that."""

    def __init__(self, app: App, nth: int, *, before: Call | None = None, after: Call | None = None) -> None:
        self._database: Any = app.store.database
        self._nth, self._before, self._after, self._writes = nth, before, after, 0

    def __enter__(self) -> None:
        transact: Any = self._database.transact
        fetch: Any = getattr(self._database, "fetch", None)

        async def stopped(operation: Any, *rest: Any) -> Any:
            if not self._is_this():
                return await transact(operation, *rest)
            if self._before is not None:
                await self._before()
                return await transact(operation, *rest)

            async def held(tx: Any) -> Any:
                answer = await operation(tx)
                await tx._connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                assert self._after is not None
                await self._after()
                return answer

            return await transact(held, *rest)

        async def fetched(*args: Any, **more: Any) -> Any:
            if self._before is not None and self._is_this():
                await self._before()
            return await fetch(*args, **more)

        self._database.transact = stopped
        if fetch is not None:
            self._database.fetch = fetched

    def __exit__(self, *_: object) -> None:
        vars(self._database).pop("transact")
        vars(self._database).pop("fetch", None)

    def _is_this(self) -> bool:
        self._writes += 1
        return self._writes == self._nth + 1
