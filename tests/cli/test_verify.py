"""`hanbeon verify`: a report, an exit code for scripts, parts of a database, and what was interrupted."""

import json
from pathlib import Path

import apsw
import pytest

from hanbeon.app import App
from tests.cli.hanbeon import call, hanbeon
from tests.cli.terminal import Terminal


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
    found = {finding["invariant"]: (finding["code"], finding["job_id"]) for finding in report["findings"]}
    assert found == {
        "state_of_last_event": ("state_mismatch", job_id),
        "tally_of_jobs": ("tally_mismatch", None),
    }


async def test_parts_of_a_database(sqlite_url: str) -> None:
    await _run_one(sqlite_url)
    _tamper(Path(sqlite_url.removeprefix("sqlite:///")))
    for options, jobs, findings in (
        (("--queue", "default"), 1, ["state_mismatch", "tally_mismatch"]),
        (("--since", "2020-01-01T00:00Z"), 1, ["state_mismatch"]),
        (("--until", "2020-01-01T00:00Z"), 0, []),
        (("--since", "2020-01-01T00:00:00+09:00", "--until", "2020-01-02T00:00Z"), 0, []),
    ):
        report = json.loads((await call("verify", "--json", "--database", sqlite_url, *options)).out)
        assert (report["jobs"], [each["code"] for each in report["findings"]]) == (jobs, findings), options
        assert "broken_dispatch" in report["unchecked"]
    text = (await call("verify", "--database", sqlite_url, "--until", "2020-01-01T00:00Z")).lines
    assert "until 2020-01-01T" in text[0]
    assert text[1].startswith("not checked in a part: broken_dispatch, tally_mismatch, ")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--queue", "nowhere"), "there is no queue 'nowhere'"),
        (("--since", "yesterday"), "since: must be a moment"),
        (("--since", "2026-01-02T00:00Z", "--until", "2026-01-01T00:00Z"), "until: must be later than since"),
        (("--resume", "/proc/work"), "resume: must be a file that can be written"),
        (("--resume", __file__), "resume: must be a new file, or the work file of an audit"),
    ],
)
async def test_bad_options_name_the_rule(sqlite_url: str, options: tuple[str, ...], error: str) -> None:
    await _run_one(sqlite_url)
    answer = await call("verify", "--database", sqlite_url, *options)
    assert answer.code != 0
    assert error in answer.err


async def test_resume_leaves_no_file(sqlite_url: str, tmp_path: Path) -> None:
    await _run_one(sqlite_url)
    file = tmp_path / "audit.work"
    answer = await call("verify", "--database", sqlite_url, "--resume", str(file))
    assert answer.lines[0].startswith("sound: 1 jobs")
    assert not file.exists()


async def test_a_terminal_sees_the_share_that_is_done(sqlite_url: str) -> None:
    await _run_one(sqlite_url)
    with Terminal("verify", "--database", sqlite_url) as terminal:
        shown = terminal.until(r"sound: 1 jobs", seconds=120)
        assert terminal.end()[0] == 0
    assert "100%" in shown
    assert "tables" in shown
    assert hanbeon("verify", "--database", sqlite_url).stderr == "", "no bar elsewhere"


def _tamper(path: Path) -> None:
    """Set the job's state by hand."""
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE hanbeon_job SET state = 'failed'")
    connection.close()
