"""Shell completion of names from the database and the file: quick and silent, or nothing."""

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


# Completes as the shell does, but many times in one process, which is quicker. It ends early if a database is slow.
_SCRIPT = """
import contextlib, io, json, os, sys
from hanbeon.cli.program import run_program

own = dict(os.environ)
for words, env in json.load(sys.stdin):
    request = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_HANBEON_COMPLETE": "complete_bash"}
    os.environ.clear()
    os.environ.update(own | request | env)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        assert run_program([]) == 0
    print(json.dumps([each for each in output.getvalue().split("\\n") if each]), flush=True)
"""
Requests = list[tuple[str, dict[str, str]]]


def _complete(requests: Requests, cwd: Path | None = None) -> list[list[str]]:
    """Return the completions of each request, up to where the process ended."""
    command = [sys.executable, "-c", _SCRIPT]
    done = subprocess.run(
        command, input=json.dumps(requests), check=True, capture_output=True, text=True, cwd=cwd, env=environment()
    )
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


async def _offered(url: str, *requests: str, cwd: Path | None = None) -> dict[str, list[str]]:
    """Return the completions, repeating requests for which a second was too short on a busy machine."""
    found: dict[str, list[str]] = {}
    while left := [words for words in requests if words not in found]:
        some = await asyncio.to_thread(_complete, [(words, {"HANBEON_DATABASE_URL": url}) for words in left], cwd)
        found |= dict(zip(left, some, strict=False))
    return found


async def _nothing() -> None:
    raise NotImplementedError


@pytest.fixture
async def there(database_url: str) -> App:
    """A database with a few names of each kind."""
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


async def test_names_are_completed_for_every_option(there: App) -> None:
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


async def test_unsafe_names_are_not_offered(there: App) -> None:
    async with there:
        unnamed = [each.id for each in (await there.schedules.list()).items if each.name != "nightly"]
    expected = {
        "hanbeon pause ": ["mail", "mass", "우편"],
        "hanbeon run ": ["rebuild", "report", "보고"],
        "hanbeon schedule show ": sorted([*unnamed, "nightly"]),  # By its id, it can be typed.
    }
    assert await _offered(there.settings.database_url, *expected) == expected


async def test_completion_uses_the_database_of_the_command(there: App, tmp_path: Path) -> None:
    url = there.settings.database_url
    (tmp_path / "other.toml").write_text(f'[settings]\ndatabase_url = "{url}"\n[tasks.recycle]\ncommand = ["true"]\n')
    expected = {
        f"hanbeon jobs --database {url} --queue mas": ["mass"],
        f"hanbeon run --database {url} --config other.toml re": ["rebuild", "recycle", "report"],
        "hanbeon run --config other.toml re": ["recycle"],  # There is no database, and none is needed.
    }
    assert await _offered("sqlite:///nowhere.db", *expected, cwd=tmp_path) == expected
    while not (found := _complete([("hanbeon pause --config other.toml mas", {})], tmp_path)):
        pass
    assert found == [["mass"]]


def test_errors_offer_nothing_and_leave_no_trace(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("[tasks.")
    (tmp_path / "no.db").write_text("not a database, and longer than the header of one " * 3)
    before = sorted(tmp_path.iterdir())
    environments = [
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
    requests = [(words, env) for env in environments for words in ("hanbeon pause m", "hanbeon run m")]
    found: list[list[str]] = []
    while left := requests[len(found) :]:
        found += _complete(left, tmp_path) or [[]]  # If it ended early, on a busy machine, nothing was offered either.
    assert found == [[]] * len(requests)
    assert sorted(tmp_path.iterdir()) == before


async def test_completion_does_not_wait_for_a_writer(there: App, monkeypatch: pytest.MonkeyPatch) -> None:
    # Two processes start while the transaction is open, which takes longer than that on a busy machine.
    monkeypatch.setattr("hanbeon.store.database.sqlite.USER_TRANSACTION_SECONDS", 60.0)
    async with there, there.transaction() as transaction:
        await there.enqueue("report", transaction=transaction)
        words = "hanbeon pause mas"
        assert await _offered(there.settings.database_url, words) == {words: ["mass"]}


async def test_a_database_that_does_not_answer_is_left_alone(postgres_url: str) -> None:
    await App(postgres_url).migrate()
    connection = await asyncpg.connect(postgres_url)
    async with connection.transaction():
        await connection.execute("LOCK TABLE hanbeon.queue IN ACCESS EXCLUSIVE MODE")
        requests: Requests = [("hanbeon pause m", {"HANBEON_DATABASE_URL": postgres_url})]
        assert await asyncio.to_thread(_complete, requests) == [], "the process has ended"
    await connection.close()


def test_at_most_ends_a_slow_process_silently() -> None:
    script = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
from hanbeon.cli.completion import at_most
with at_most(60): pass
with at_most(0.1): ThreadPoolExecutor().submit(time.sleep, 600).result()
print("too late")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True, env=environment(), timeout=300
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
