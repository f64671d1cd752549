"""`hanbeon schedule`, `run` and `executions`."""

import json
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App
from hanbeon.store.operations import instances as instance_rows
from tests.cli.hanbeon import EXAMPLES, call, hanbeon, hanbeon_inside
from tests.cli.workers import Running
from tests.config.files import write
from tests.surfaces.schedules.schedule_kit import add_tasks


@pytest.fixture
async def where(database_url: str) -> tuple[str, ...]:
    """A database that knows some tasks."""
    app = App(database_url)
    add_tasks(app)
    await app.migrate()
    async with app:
        await app.worker().register()
    return ("--database", database_url)


async def _make(where: tuple[str, ...], *words: str) -> Any:
    return (await call("schedule", "create", "report", *words, "--json", *where)).document


async def test_a_schedule_is_made_listed_and_shown(where: tuple[str, ...]) -> None:
    (made,) = (
        await call("schedule", "create", "report", "day=today", "--cron", "0 9 * * *", "--name", "morning", *where)
    ).lines
    other = await _make(where, "--cron", "@hourly", "--timezone", "Europe/Berlin", "--overlap", "allow", "--paused")
    (page,) = [(await call("schedule", "list", "--json", *where)).document]
    assert [each["id"] for each in page["items"]] == [made, other["id"]]
    assert page["items"][0]["args"] == {"day": "today"}
    heading, first, second = (await call("schedule", "list", *where)).lines
    assert heading.split() == ["SCHEDULE", "TASK", "WHEN", "NEXT", "FIRE", "LAST", "FIRE", "LAST", "RUN", "NOTES"]
    assert first.split()[:7] == ["morning", "report", "0", "9", "*", "*", "*"]
    assert "T09:00:00+09:00" in first, "in the zone of the installation"
    assert second.split() == [other["id"], "report", "@hourly", "Europe/Berlin", "paused"]
    assert len((await call("schedule", "list", "--paused", *where)).lines) == 2
    more = await call("schedule", "list", "--limit", "1", *where)
    assert more.err == f"more results: add --cursor {made}\n"
    rest = await call("schedule", "list", "--limit", "1", "--cursor", made, "--json", *where)
    assert [each["id"] for each in rest.document["items"]] == [other["id"]]

    for key in ("morning", made):
        shown = await call("schedule", "show", key, *where)
        assert shown.code == 0
        assert '{"day":"today"}' in shown.out
        assert shown.out.count("T09:00:00+09:00") >= 3, "its next fires"
    assert (await call("schedule", "show", "morning", "--json", *where)).document == page["items"][0]


async def test_it_is_changed_field_by_field(where: tuple[str, ...]) -> None:
    made = await _make(where, "--cron", "0 9 * * *", "--name", "it", "--jitter", "5m", "--ends-at", "2090-01-01T00:00")
    assert (made["jitter"], made["ends_at"]) == (300.0, "2090-01-01T00:00:00.000+09:00")
    (line,) = (await call("schedule", "change", "it", "--cron", "0 8 * * *", "day=monday", *where)).lines
    assert line.startswith("it: fires next at ")
    assert line.endswith("T08:00:00+09:00")
    unset = ("--unset", "ends-at", "--unset", "jitter")
    changed = (await call("schedule", "change", "it", *unset, "--task", "fail", "{}", "--json", *where)).document
    assert (changed["cron"], changed["ends_at"], changed["jitter"]) == ("0 8 * * *", None, 0.0)
    assert (changed["task_id"], changed["args"]) == ("fail", {})
    late = await call("schedule", "change", "it", "--name", "that", "--if-version", "1", *where)
    assert late.code == 4
    assert (await call("schedule", "change", "it", *where)).code == 2
    typo = await call("schedule", "change", "it", "--unset", "ends", *where)
    assert typo.code == 2
    assert "known fields are" in typo.err


async def test_it_is_paused_resumed_and_deleted(where: tuple[str, ...]) -> None:
    first = await _make(where, "--cron", "@daily", "--name", "a")
    await _make(where, "--cron", "@daily", "--name", "b")
    assert (await call("schedule", "pause", "a", "b", first["id"], *where)).lines == ["a is paused", "b is paused"]
    assert (await call("schedule", "resume", "a", *where)).lines == ["a fires again"]
    none = await call("schedule", "delete", "a", "c", *where)
    assert none.code == 3
    assert "there is no schedule 'c'" in none.err
    deleted = (await call("schedule", "delete", "a", "--json", *where)).document
    assert [each["id"] for each in deleted["schedules"]] == [first["id"]]
    assert [each["name"] for each in (await call("schedule", "list", "--json", *where)).document["items"]] == ["b"]


async def test_next_fires_are_previewed(where: tuple[str, ...]) -> None:
    await _make(where, "--cron", "30 2 * * *", "--timezone", "Asia/Tokyo", "--name", "night", "--paused")
    fires = (await call("schedule", "preview", "night", "-n", "2", "--json", *where)).document["fires"]
    assert [fire["at"][11:16] for fire in fires] == ["02:30", "02:30"]
    own = await call("schedule", "preview", "night", "--timezone", "UTC", *where)
    assert own.code == 2
    assert "has its own" in own.err


def test_an_expression_is_previewed_without_a_database(tmp_path: Path) -> None:
    zone, start = ("--timezone", "Europe/Berlin"), ("--from", "2027-03-28T00:00")
    done = hanbeon("schedule", "preview", "30 2 * * *", *zone, *start, "-n", "2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1:] == [
        "2027-03-28T03:00:00+02:00  02:30 does not exist on 2027-03-28; fires at 03:00, when the clocks jump",
        "2027-03-29T02:30:00+02:00",
    ]
    here = hanbeon_inside("schedule", "preview", "@daily", "-n", "1", "--json", cwd=tmp_path, HANBEON_TIMEZONE="UTC")
    assert json.loads(here.stdout)["fires"][0]["at"].endswith("T00:00:00.000+00:00")
    for bad in ("0 9 * *", "99 9 * * *", "*/0 * * * *", "@dayly"):
        refused = hanbeon_inside("schedule", "preview", bad, cwd=tmp_path)
        assert refused.returncode == 2
        assert refused.stderr.startswith("error: cron: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("create", "reprot", "--cron", "@daily"), 2, "did you mean 'report'?"),
        (("create", "report", "--cron", "0 9 30 2 *"), 2, "never fires"),
        (("create", "report", "--cron", "@daily", "--timezone", "Asia/Soul"), 2, "did you mean Asia/Seoul"),
        (("create", "report", "--run-at", "1999-01-01T00:00"), 2, "must be in the future"),
        (("create", "report"), 2, "cron: must be given"),
        (("create", "report", "--cron", "@daily", "--overlap", "maybe"), 2, "skip, allow, queue_one"),
        (("show", "nothing"), 3, "`hanbeon schedule list` shows them"),
        (("fires", "nothing"), 3, "there is no schedule"),
        (("list", "--limit", "0"), 2, "limit"),
    ],
)
async def test_rejects_invalid_schedule_arguments(
    where: tuple[str, ...], words: tuple[str, ...], code: int, message: str
) -> None:
    answer = await call("schedule", *words, *where)
    assert (answer.code, answer.out) == (code, "")
    assert message in answer.err


async def test_fires_executions_and_runs_by_hand_are_seen(database_url: str, tmp_path: Path) -> None:
    await App(database_url).migrate()
    text = '[tasks.tell]\ncommand = ["echo", "{args.what}"]\nresult = "text"\n'
    declared = '[schedules.often]\ntask = "tell"\ncron = "* * * * * *"\nargs = { what = "tick" }\noverlap = "allow"\n'
    write(tmp_path, text + declared)
    config = ("--config", str(tmp_path / "hanbeon.toml"), "--database", database_url)
    with Running("worker", *config, cwd=tmp_path) as worker:
        worker.until("worker_started")
        (listed,) = (await call("schedule", "list", "--json", *config)).document["items"]
        assert (listed["name"], listed["declared"]) == ("often", True)
        while True:
            fires = (await call("schedule", "fires", "often", "--outcome", "created", "--json", *config)).document
            done = (await call("executions", "--schedule", "often", "--status", "SUCCESS", "--json", *config)).document
            if fires["items"] and done["items"]:
                break
        assert done["items"][0]["result"] == "tick"
        assert fires["items"][-1]["execution_id"] is not None
        assert (await call("schedule", "fires", "often", *config)).code == 0
        assert (await call("schedule", "pause", "often", *config)).code == 0
        assert "overridden: paused" not in (await call("schedule", "list", *config)).out, "it says nothing of that"
        ran = await _run_when_free(*config)
        assert (ran.code, ran.out) == (0, '"by hand"\n')
        by_hand = (await call("executions", "--type", "MANUAL", "--task", "tell", "--json", *config)).document["items"]
        assert [(each["status"], each["result"]) for each in by_hand] == [("SUCCESS", "by hand")]
        heading, line = (await call("executions", "--type", "MANUAL", *config)).lines
        assert heading.split()[:4] == ["EXECUTION", "TASK", "TYPE", "STATUS"]
        assert line.split()[1:4] == ["tell", "MANUAL", "SUCCESS"]


async def _run_when_free(*config: str) -> Any:
    """An execution of the schedule may still be unfinished, and then a run by hand is refused."""
    while (ran := await call("run", "tell", "what=by hand", "--wait", *config)).code == 4:
        pass
    return ran


async def test_run_is_refused_while_another_is_unfinished(where: tuple[str, ...]) -> None:
    made = await call("run", "report", "day=now", "--json", *where)
    assert made.code == 0
    execution = json.loads(made.out)
    assert (execution["task_id"], execution["type"], execution["status"]) == ("report", "MANUAL", "PENDING")
    again = await call("run", "report", *where)
    assert (again.code, again.out) == (4, "")
    assert execution["execution_id"] in again.err
    (listed,) = (await call("executions", "--json", *where)).document["items"]
    assert listed == execution
    unknown = await call("run", "nothing", *where)
    assert unknown.code == 3


def test_run_checks_arguments_of_a_known_task(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    wrong = hanbeon("run", "--app", "quickstart:app", "--database", url, "greet", "nmae=Ada", cwd=EXAMPLES)
    assert wrong.returncode == 2
    assert "greet" in wrong.stderr
    made = hanbeon("run", "--app", "quickstart:app", "--database", url, "greet", "name=Ada", cwd=EXAMPLES)
    assert (made.returncode, made.stderr) == (0, "")


async def test_undeclared_schedules_are_marked(where: tuple[str, ...]) -> None:
    app = App(where[1])
    add_tasks(app)
    app.schedule("kept", "report", cron="@daily")
    app.schedule("gone", "report", cron="@daily")
    async with app:
        first = app.worker()
        await first.register()
        await app.schedules.change("kept", cron="@hourly")
        await app.store.write(lambda tx: instance_rows.leave(tx, first.instance))
    after = App(where[1])
    add_tasks(after)
    after.schedule("kept", "report", cron="@daily")
    async with after:
        await after.worker().register()
        _, kept, gone = (await call("schedule", "list", *where)).lines
    assert kept.endswith("declared; overridden: cron")
    assert gone.endswith("declared; no live worker declares it")
