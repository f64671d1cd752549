"""`hanbeon verify`: a report, and an exit code for scripts."""

import json
from pathlib import Path

import apsw

from hanbeon.app import App
from tests.cli.hanbeon import call, hanbeon


async def _greet(name: str) -> str:
    return f"Hello, {name}!"


async def _run_one(url: str) -> str:
    app = App(url)
    greet = app.task(_greet)
    await app.migrate()
    async with app, app.worker():
        job = await app.enqueue(greet.call("Ada"))
        await job.result(timeout=30)
    return job.id


async def test_a_sound_database(database_url: str) -> None:
    await _run_one(database_url)
    assert (await call("verify", "--database", database_url)).lines[0].startswith("sound: 1 jobs")
    report = (await call("verify", "--json", "--database", database_url)).document
    assert (report["sound"], report["jobs"], report["findings"]) == (True, 1, [])


async def test_an_unsound_database(sqlite_url: str) -> None:
    job_id = await _run_one(sqlite_url)
    _tamper(Path(sqlite_url.removeprefix("sqlite:///")))
    done = hanbeon("verify", "--database", sqlite_url)
    assert done.returncode == 1
    assert done.stdout.startswith("NOT SOUND")
    assert "state_mismatch" in done.stdout

    answer = await call("verify", "--json", "--database", sqlite_url)
    report = json.loads(answer.out)
    assert (answer.code, report["sound"]) == (1, False)
    found = {finding["code"]: finding["job_id"] for finding in report["findings"]}
    assert found == {"state_mismatch": job_id, "tally_mismatch": None}


def _tamper(path: Path) -> None:
    """Set the job's state by hand."""
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE hanbeon_job SET state = 'failed'")
    connection.close()
