"""A reader with a SQL prompt: another program with its own database library, independent of Hanbeon."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import re
import sys
from collections.abc import Awaitable, Callable
from typing import Any
from zoneinfo import ZoneInfo

import asyncpg

from hanbeon.clock import iso

LIMIT = 60.0
Fetch = Callable[[], Awaitable[dict[str, Any]]]
VIEWS = ("export_jobs", "job_queue", "job_executions", "executions", "schedules")
_PLAIN = re.compile(r"hanbeon\.(?=(?:job_queue|job_executions|export_jobs|scheduled_jobs|workflow_run_history)\b)")
"""SQLite has these under their plain names, too."""

# While an App has the file open, only another process may use another SQLite library on it.
_SQLITE = """
import json, sqlite3, sys
database = sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None)
database.row_factory = sqlite3.Row
for line in sys.stdin:
    try:
        answer = {"rows": [dict(row) for row in database.execute(json.loads(line))]}
    except sqlite3.Error as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
"""
_JSON = ("progress", "result", "args")
_LISTS = ("depends_on", "blocked_by")
_SWITCHES = ("urgent", "paused", "declared")
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class Refused(Exception):
    """The database refused the statement; carries its message."""


class Reader:
    """Reads and tries to write by SQL, with the views' names as each database has them."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Reader:
        if self.on_sqlite:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-c", _SQLITE, self._url.removeprefix("sqlite:///")),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=2**26,
            )
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            await self._process.wait()

    @property
    def on_sqlite(self) -> bool:
        return self._url.startswith("sqlite")

    async def rows(self, sql: str) -> list[dict[str, Any]]:
        """As the database gives them; `hanbeon.name` is written as PostgreSQL has it."""
        if self.on_sqlite:
            return await self._of_sqlite(_PLAIN.sub("", sql).replace("hanbeon.", "hanbeon_"))
        connection = await asyncpg.connect(self._url)
        try:
            return [dict(row) for row in await connection.fetch(sql)]
        except asyncpg.PostgresError as error:
            raise Refused(str(error)) from None
        finally:
            await connection.close()

    async def view(self, name: str, where: str = "true") -> list[dict[str, Any]]:
        """Return the rows of a view, in the formats in which Hanbeon answers."""
        return [_as_answered(row) for row in await self.rows(f"SELECT * FROM hanbeon.{name} WHERE {where}")]

    async def _of_sqlite(self, sql: str) -> list[dict[str, Any]]:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(sql).encode() + b"\n")
        answer = json.loads(await self._process.stdout.readline())
        if "error" in answer:
            raise Refused(answer["error"])
        found: list[dict[str, Any]] = answer["rows"]
        return found


async def at_rest(expected: Fetch, shown: Fetch) -> dict[str, Any]:
    """Check that the view shows what the surface returns. If bodies end while both are read, read them again."""
    async with asyncio.timeout(LIMIT):
        while True:
            before, found, after = await expected(), await shown(), await expected()
            if before == after:
                differing = {key: (found.get(key), it) for key, it in after.items() if found.get(key) != it}
                assert not differing, differing
                assert found.keys() == after.keys()
                return found


def _as_answered(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _answer(name, value) for name, value in row.items()}


def _answer(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name.endswith("_at") or name == "locked_until":
        at = value if isinstance(value, dt.datetime) else dt.datetime.fromisoformat(value)
        assert at.utcoffset() == dt.timedelta(0), value
        return iso((at - _EPOCH) // dt.timedelta(microseconds=1), ZoneInfo("Asia/Seoul"), "milliseconds")
    if name in _JSON:
        return json.loads(value)
    if name in _LISTS:
        return [str(each) for each in (json.loads(value) if isinstance(value, str) else value)]
    if name in _SWITCHES:
        assert value in (0, 1)
        return bool(value)
    return str(value) if name == "id" or name.endswith("_id") else value
