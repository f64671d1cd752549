"""Names that the shell completes: from the database and the file, quickly and silently or not at all."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import asyncpg
import pytest

from hanbeon import App
from hanbeon.surfaces.offices.service import Offices
from tests.cli.hanbeon import environment

_HOSTILE = ("a b", "$(touch made)", "x;y", "`id`", "'q'", "-rf", "a:b")


# As the shell asks, but again and again in one process, which is quicker; it ends early where a database is too slow.
_ASK = """
import contextlib, io, json, os, sys
from hanbeon.cli.program import run_program

own = dict(os.environ)
for words, env in json.load(sys.stdin):
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_HANBEON_COMPLETE": "complete_bash"}
    os.environ.clear()
    os.environ.update(own | asked | env)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert run_program([]) == 0
    print(json.dumps([each for each in said.getvalue().split("\\n") if each]), flush=True)
"""
Asked = list[tuple[str, dict[str, str]]]


def _ask(asked: Asked, cwd: Path | None = None) -> list[list[str]]:
    """What is completed of each, as far as it came."""
    command = [sys.executable, "-c", _ASK]
    done = subprocess.run(
        command, input=json.dumps(asked), check=True, capture_output=True, text=True, cwd=cwd, env=environment()
    )
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


async def _offered(url: str, *asked: str, cwd: Path | None = None) -> dict[str, list[str]]:
    """What is offered in the end: on a busy machine a second may be too short for a database to answer."""
    found: dict[str, list[str]] = {}
    while left := [words for words in asked if words not in found]:
        some = await asyncio.to_thread(_ask, [(words, {"HANBEON_DATABASE_URL": url}) for words in left], cwd)
        found |= dict(zip(left, some, strict=False))
    return found


async def _nothing() -> None:
    raise NotImplementedError


@pytest.fixture
async def there(database_url: str) -> App:
    """A database with a few names of everything."""
    app = App(database_url)
    await app.migrate()
    for name in ("report", "rebuild", "보고", *_HOSTILE):
        app.task(name=name)(_nothing)
    async with app:
        async with app.worker():
            pass  # Its tasks are known from here on.
        for queue in ("mail", "mass", "우편", *_HOSTILE):
            await app.configure_queue(queue)
        for schedule in ("nightly", "once upon a time"):
            await app.schedules.create("report", name=schedule, cron="0 3 * * *")
        for office in ("Seoul", "Busan", "Busan"):
            await Offices(app).create(name=office)
    return app


async def test_names_are_completed_wherever_one_is_asked_for(there: App) -> None:
    url = there.settings.database_url
    async with there:
        nightly = next(each.id for each in (await there.schedules.list()).items if each.name == "nightly")
        offices = (await Offices(there).list()).items
    expected = {
        "hanbeon pause m": ["mail", "mass"],
        "hanbeon pause mail 우": ["우편"],
        "hanbeon limit mai": ["mail"],
        "hanbeon jobs --queue mas": ["mass"],
        "hanbeon events --queue mas": ["mass"],
        "hanbeon enqueue x --queue mas": ["mass"],
        "hanbeon enqueue re": ["rebuild", "report"],
        "hanbeon run 보": ["보고"],
        "hanbeon cancel --task rep": ["report"],
        "hanbeon schedule create rep": ["report"],
        "hanbeon schedule change x --task rep": ["report"],
        "hanbeon executions --task rep": ["report"],
        "hanbeon executions --schedule n": ["nightly"],
        "hanbeon schedule pause n": ["nightly"],
        "hanbeon schedule preview n": ["nightly"],
        f"hanbeon schedule show {nightly}": [nightly],
        "hanbeon office show S": ["Seoul"],
        "hanbeon office show ": sorted(each.id if each.name == "Busan" else each.name for each in offices),
    }
    assert await _offered(url, *expected) == expected


async def test_names_that_a_shell_would_not_take_as_they_stand_are_not_offered(there: App) -> None:
    async with there:
        unnamed = [each.id for each in (await there.schedules.list()).items if each.name != "nightly"]
    expected = {
        "hanbeon pause ": ["mail", "mass", "우편"],
        "hanbeon run ": ["rebuild", "report", "보고"],
        "hanbeon schedule show ": sorted([*unnamed, "nightly"]),  # By its id, it can be typed.
    }
    assert await _offered(there.settings.database_url, *expected) == expected


async def test_the_database_is_the_one_that_the_command_would_work_on(there: App, tmp_path: Path) -> None:
    url = there.settings.database_url
    (tmp_path / "other.toml").write_text(f'[settings]\ndatabase_url = "{url}"\n[tasks.recycle]\ncommand = ["true"]\n')
    expected = {
        f"hanbeon jobs --database {url} --queue mas": ["mass"],
        f"hanbeon run --database {url} --config other.toml re": ["rebuild", "recycle", "report"],
        "hanbeon run --config other.toml re": ["recycle"],  # There is no database, and none is needed.
    }
    assert await _offered("sqlite:///nowhere.db", *expected, cwd=tmp_path) == expected
    while not (found := _ask([("hanbeon pause --config other.toml mas", {})], tmp_path)):
        pass
    assert found == [["mass"]]


def test_where_nothing_can_be_asked_nothing_is_offered_made_or_said(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("[tasks.")
    (tmp_path / "no.db").write_text("not a database, and longer than the header of one " * 3)
    before = sorted(tmp_path.iterdir())
    plights = [
        {},
        {"HANBEON_DATABASE_URL": "sqlite:///missing.db"},
        {"HANBEON_DATABASE_URL": "sqlite:///no.db"},
        {"HANBEON_DATABASE_URL": "postgresql://127.0.0.1:1/shop"},
        {"HANBEON_DATABASE_URL": "nonsense"},
        {"HANBEON_CONFIG": "broken.toml"},
        {"HANBEON_CONFIG": "missing.toml"},
        {"HANBEON_LEASE": "soon"},
        {"HANBEON_CONCURENCY": "3"},
    ]
    asked = [(words, env) for env in plights for words in ("hanbeon pause m", "hanbeon run m")]
    found: list[list[str]] = []
    while left := asked[len(found) :]:
        found += _ask(left, tmp_path) or [[]]  # That it ended early, on a busy machine, is nothing offered as well.
    assert found == [[]] * len(asked)
    assert sorted(tmp_path.iterdir()) == before


async def test_who_writes_is_not_waited_for(there: App) -> None:
    async with there, there.transaction() as transaction:
        await there.enqueue("report", transaction=transaction)
        words = "hanbeon pause mas"
        assert await _offered(there.settings.database_url, words) == {words: ["mass"]}


async def test_a_database_that_does_not_answer_is_left_alone(postgres_url: str) -> None:
    await App(postgres_url).migrate()
    connection = await asyncpg.connect(postgres_url)
    async with connection.transaction():
        await connection.execute("LOCK TABLE hanbeon.queue IN ACCESS EXCLUSIVE MODE")
        asked: Asked = [("hanbeon pause m", {"HANBEON_DATABASE_URL": postgres_url})]
        assert await asyncio.to_thread(_ask, asked) == [], "the process has ended"
    await connection.close()


def test_what_takes_too_long_ends_the_process_in_silence() -> None:
    script = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
from hanbeon.cli.completion import at_most
with at_most(60): pass
with at_most(0.1): ThreadPoolExecutor().submit(time.sleep, 600).result()
print("too late")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True, env=environment(), timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
