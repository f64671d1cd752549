"""The contract of docs/views.md: columns, values, no writes, and only the documented privileges."""

import asyncio
import enum
import re

import asyncpg
import pytest

from hanbeon.domain.executions import ExecutionType
from hanbeon.domain.timing.fire_times import ClockFold, ClockGap
from hanbeon.surfaces.offices import schemas as office_shapes
from hanbeon.surfaces.offices import vocabulary as offices
from hanbeon.surfaces.schedules import schemas as schedule_shapes
from hanbeon.surfaces.schedules import vocabulary as schedules
from hanbeon.surfaces.schedules.misfire import Misfire, Overlap
from hanbeon.surfaces.store_parts import migrate
from hanbeon.testing import TestKit
from tests.cli.hanbeon import hanbeon
from tests.surfaces.views.page import documented, examples_and_grants
from tests.surfaces.views.reader import VIEWS, Reader, Refused
from tests.surfaces.views.test_schedules import NOT_SHOWN

_TYPES = """
SELECT a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type
FROM pg_attribute AS a WHERE a.attrelid = CAST($1 AS regclass) AND a.attnum > 0 ORDER BY a.attnum
"""
WORDS: dict[tuple[str, str], type[enum.StrEnum]] = {
    ("job_queue", "status"): offices.JobStatus,
    ("job_executions", "status"): offices.ExecutionStatus,
    ("executions", "status"): schedules.ExecutionStatus,
    ("executions", "type"): ExecutionType,
    ("schedules", "overlap"): Overlap,
    ("schedules", "misfire"): Misfire,
    ("schedules", "dst_gap"): ClockGap,
    ("schedules", "dst_fold"): ClockFold,
}


async def test_migrate_makes_them_with_the_columns_of_the_page(database_url: str) -> None:
    done = await asyncio.to_thread(hanbeon, "migrate", "--database", database_url)
    assert done.returncode == 0, done.stderr
    async with Reader(database_url) as reader:
        for view in VIEWS:
            columns = [name for name, *_ in documented(view)]
            assert columns, view
            assert await reader.rows(f"SELECT {', '.join(columns)} FROM hanbeon.{view}") == []


async def test_table_of_the_same_name_stays_on_sqlite(empty_sqlite_url: str) -> None:
    async with Reader(empty_sqlite_url) as reader:
        await reader.rows("CREATE TABLE job_queue (mine TEXT)")
        await migrate(empty_sqlite_url)
        await reader.rows("INSERT INTO job_queue VALUES ('kept')")
        assert await reader.rows("SELECT * FROM job_queue") == [{"mine": "kept"}]
        assert await reader.rows("SELECT * FROM hanbeon_job_queue") == []
        assert await reader.rows("SELECT * FROM scheduled_jobs") == []


async def test_the_page_has_all_columns_with_their_types_on_postgresql(postgres_url: str) -> None:
    await migrate(postgres_url)
    connection = await asyncpg.connect(postgres_url)
    try:
        for view in VIEWS:
            found = [(row["column"], row["type"]) for row in await connection.fetch(_TYPES, f"hanbeon.{view}")]
            assert [(name, type) for name, type, _, _ in documented(view)] == found
    finally:
        await connection.close()


def test_the_columns_are_those_of_the_answers() -> None:
    def columns(view: str) -> set[str]:
        return {name for name, *_ in documented(view)}

    assert columns("job_queue") == set(office_shapes.Job.__struct_fields__)
    assert columns("job_executions") == {*office_shapes.JobExecution.__struct_fields__, "id", "created_at"}
    assert columns("executions") == set(schedule_shapes.Execution.__struct_fields__)
    assert columns("schedules") == set(schedule_shapes.Schedule.__struct_fields__) - NOT_SHOWN


@pytest.mark.parametrize(("place", "words"), WORDS.items(), ids=".".join)
def test_the_page_lists_the_words_of_a_column(place: tuple[str, str], words: type[enum.StrEnum]) -> None:
    view, column = place
    (meaning,) = [meaning for name, _, _, meaning in documented(view) if name == column]
    assert re.findall(r"`(\w+)`", meaning) == [word.value for word in words]


@pytest.mark.parametrize("view", VIEWS)
async def test_nothing_is_written_through_a_view(far_kit: TestKit, reader: Reader, view: str) -> None:
    """Not even where nothing would change."""
    column = documented(view)[0][0]
    for statement in (
        f"INSERT INTO hanbeon.{view} ({column}) VALUES (NULL)",
        f"UPDATE hanbeon.{view} SET {column} = NULL",
        f"DELETE FROM hanbeon.{view}",
    ):
        with pytest.raises(
            Refused, match=rf"^cannot (insert into|update|delete from|modify) .*{view}.*view|view.*{view}"
        ):
            await reader.rows(statement)


async def test_the_examples_of_the_page_work(far_kit: TestKit, reader: Reader) -> None:
    examples, _ = examples_and_grants()
    assert len(examples) == 4
    for example in examples:
        assert await reader.rows(example) == []


async def test_documented_grants_allow_reading_the_views_only(postgres_url: str) -> None:
    await migrate(postgres_url)
    admin = await asyncpg.connect(postgres_url)
    role = f"reader_{await admin.fetchval('SELECT current_database()')}"
    try:
        await admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'secret'")
        await admin.execute(examples_and_grants()[1].replace(" reader;", f" {role};"))
        await admin.execute(f"SET ROLE {role}")
        for view in VIEWS:
            assert await admin.fetch(f"SELECT * FROM hanbeon.{view}") == []
        for table in ("job", "listener", "token", "jobs"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await admin.fetch(f"SELECT * FROM hanbeon.{table}")
    finally:
        await admin.execute(f"RESET ROLE; DROP OWNED BY {role}; DROP ROLE {role}")
        await admin.close()
