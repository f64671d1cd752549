"""`hanbeon config`: every setting with its origin, and no password anywhere."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hanbeon.settings import Settings, masked
from tests.cli.hanbeon import call, hanbeon, hanbeon_inside

_SECRET = "s3cr3t"


def test_every_setting_is_shown_with_its_origin(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("from hanbeon import App\n\napp = App(lease=60)\n")
    environment: dict[str, Any] = {
        "HANBEON_DATABASE_URL": f"postgresql://ada:{_SECRET}@127.0.0.1:1/shop",
        "HANBEON_CONCURRENCY": "7",
    }
    done = hanbeon_inside("config", "show", "--json", cwd=tmp_path, **environment)
    found = {each["name"]: each for each in json.loads(done.stdout)["settings"]}
    assert list(found) == list(Settings.model_fields)
    assert found["database_url"]["value"] == "postgresql://ada:***@127.0.0.1:1/shop"
    assert found["database_url"]["origin"] == "HANBEON_DATABASE_URL"
    assert found["concurrency"] == {"name": "concurrency", "value": 7, "origin": "HANBEON_CONCURRENCY"}
    assert found["lease"] == {"name": "lease", "value": 30.0, "origin": "default"}

    done = hanbeon("config", "show", "--origin", "--app", "shop:app", cwd=tmp_path, **environment)
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert lines["lease"].split() == ["lease", "60", "the", "App"]
    assert _SECRET not in done.stdout + done.stderr
    done = hanbeon_inside("config", "show", "--origin", "--database", "sqlite:///x.db", cwd=tmp_path, **environment)
    assert "sqlite:///x.db" in done.stdout
    assert "--database" in done.stdout


def test_check_reports_all_problems_of_the_environment(tmp_path: Path) -> None:
    wrong: dict[str, Any] = {"HANBEON_LEASE": "soon", "HANBEON_POLL": "-1", "HANBEON_CONCURENCY": "3"}
    done = hanbeon_inside("config", "check", cwd=tmp_path, **wrong)
    assert (done.returncode, done.stdout) == (2, "")
    assert [line.split(":")[1].strip() for line in done.stderr.splitlines()] == ["lease", "poll", "HANBEON_CONCURENCY"]
    assert "did you mean HANBEON_CONCURRENCY?" in done.stderr
    done = hanbeon_inside("config", "check", "--json", cwd=tmp_path, **wrong)
    assert [each["code"] for each in json.loads(done.stdout)["problems"]] == ["invalid"] * 3


async def test_check_opens_the_database(empty_database_url: str) -> None:
    is_file = empty_database_url.startswith("sqlite")
    assert (await call("config", "check", "--database", empty_database_url)).code == (3 if is_file else 5)
    assert (await call("migrate", "--database", empty_database_url)).code == 0
    (line,) = (await call("config", "check", "--database", empty_database_url)).lines
    assert line.startswith("ok: ")
    assert is_file or ":***@" in line
    assert (await call("config", "check", "--json", "--database", empty_database_url)).document == {
        "ok": True,
        "problems": [],
    }


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///jobs.db", "sqlite:///jobs.db"),
        ("sqlite:////var/a:b@c.db", "sqlite:////var/a:b@c.db"),
        ("postgresql://host/shop", "postgresql://host/shop"),
        ("postgresql://ada@host/shop", "postgresql://ada@host/shop"),
        (f"postgresql://ada:{_SECRET}@host:5/shop", "postgresql://ada:***@host:5/shop"),
        (f"postgresql://:{_SECRET}@host/shop", "postgresql://:***@host/shop"),
        (f"postgresql://ada:a@b/{_SECRET}#@host/shop", "postgresql://ada:***@host/shop"),
        (f"postgresql://host/shop?user=ada&password={_SECRET}&x=1", "postgresql://host/shop?user=ada&password=***&x=1"),
        (f"postgresql://host/shop?sslpassword={_SECRET}", "postgresql://host/shop?sslpassword=***"),
        (f"//ada:{_SECRET}@host", "//ada:***@host"),
        (f"ada:{_SECRET}@host", "ada:***@host"),
    ],
)
def test_a_password_is_never_shown(url: str, shown: str) -> None:
    assert masked(url) == shown
    answer = asyncio.run(call("config", "show", "--database", url))
    assert shown in answer.out
    assert _SECRET not in answer.out + answer.err


@pytest.mark.parametrize(
    "url",
    [
        f"//ada:{_SECRET}@host/shop",
        f"ada:{_SECRET}@host",
        f"postgresql://ada:{_SECRET}#@host/shop",
        f"postgresql://ada:{_SECRET}/@host/shop",
        f"postgresql://ada:{_SECRET}@[::1/shop",
        f"postgresql://ada:{_SECRET}@host:port/shop",
        f"postgresql://ada:{_SECRET}@127.0.0.1:1/shop",
        f"sqlite://ada:{_SECRET}@host/shop",
        f"mysql://ada:{_SECRET}@host/shop",
    ],
)
def test_an_error_about_an_address_does_not_tell_its_password(url: str) -> None:
    for command in (("jobs",), ("migrate",), ("verify",), ("config", "check")):
        answer = asyncio.run(call(*command, "--database", url))
        assert answer.code in (2, 5)
        assert _SECRET not in answer.out + answer.err
        assert answer.err.startswith("error: ")
        assert answer.err.count("\n") == 1


def test_check_accepts_a_missing_sqlite_file(tmp_path: Path) -> None:
    assert hanbeon_inside("init", "hanbeon.toml", cwd=tmp_path).returncode == 0
    done = hanbeon_inside("config", "check", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ok: ")
    done = hanbeon_inside("config", "check", "--database", "sqlite:///typo.db", cwd=tmp_path)
    assert (done.returncode, "there is no file" in done.stderr) == (3, True)
    done = hanbeon_inside("config", "check", cwd=tmp_path, HANBEON_DATABASE_URL="sqlite:///nowhere/jobs.db")
    assert done.returncode == 3


def test_check_finds_schedules_that_cannot_be_kept(tmp_path: Path) -> None:
    text = '[tasks.report]\ncommand = ["true"]\n[schedules.{}]\ntask = "{}"\ncron = "{}"\n'
    (tmp_path / "hanbeon.toml").write_text(text.format("nightly", "report", "0 3 * * *"))
    done = hanbeon_inside("config", "check", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "(1 task, 0 queues, 1 schedule)" in done.stdout
    (tmp_path / "hanbeon.toml").write_text(text.format("nightly", "reprot", "0 3 * * *"))
    done = hanbeon_inside("config", "check", cwd=tmp_path)
    assert done.returncode == 2
    place = "hanbeon.toml: schedules.nightly.task"
    assert done.stderr == f"error: {place}: there is no task 'reprot'; did you mean 'report'? (line 4)\n"
    (tmp_path / "hanbeon.toml").write_text(text.format("nightly", "report", "0 3 * *"))
    done = hanbeon_inside("config", "check", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: hanbeon.toml: schedules.nightly.cron: must have 5 fields")
    assert done.stderr.endswith("(line 5)\n")


def test_check_reports_all_problems_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "hanbeon.toml").write_text(
        """[settings]
lease = "soon"
[tasks.report]
command = ["true"]
retries = -1
timeuot = "5s"
[queues.mail]
max_concurrent = -1
[schedules.nightly]
cron = "0 3 * *"
timezone = "Mars"
[schedules.daily]
task = "report"
cron = "0 3 * * *"
"""
    )
    done = hanbeon_inside("config", "check", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert [line.split(": ")[2] for line in lines] == [
        "settings.lease",
        "tasks.report.retries",
        "tasks.report.timeuot",
        "queues.mail.max_concurrent",
        "schedules.nightly.task",
        "schedules.nightly.cron",
        "schedules.nightly.timezone",
    ]
    assert [line[line.rindex("(") :] for line in lines] == [f"(line {line})" for line in (2, 5, 6, 8, 9, 10, 11)]
    done = hanbeon_inside("config", "check", "--json", cwd=tmp_path)
    assert done.returncode == 2
    first = json.loads(done.stdout)["problems"][0]
    assert (first["code"], first["field"], first["line"]) == ("config_invalid", "settings.lease", 2)
    assert first["message"].startswith("hanbeon.toml: settings.lease: must be a duration like 90s")


def test_check_looks_up_schedule_tasks_despite_other_problems(tmp_path: Path) -> None:
    text = """
[tasks.report]
command = ["true"]
retries = -1
[schedules.nightly]
task = "reprot"
cron = "0 3 * * *"
[schedules.daily]
task = "report"
cron = "0 3 * * *"
"""
    (tmp_path / "hanbeon.toml").write_text(text)
    done = hanbeon_inside("config", "check", cwd=tmp_path)
    assert done.returncode == 2
    retries, task = done.stderr.splitlines()
    assert "tasks.report.retries: " in retries
    assert task.endswith("schedules.nightly.task: there is no task 'reprot'; did you mean 'report'? (line 6)")
    # A schedule that is invalid itself, in a file without tasks.
    (tmp_path / "hanbeon.toml").write_text("[schedules.nightly]\ntask = 'report'\ncron = '0 3 * *'\n")
    lines = hanbeon_inside("config", "check", cwd=tmp_path).stderr.splitlines()
    assert [line.split(": ")[2] for line in lines] == ["schedules.nightly.task", "schedules.nightly.cron"]
    # An App may have the task, which is only known once the file is valid.
    (tmp_path / "hanbeon.toml").write_text(f"app = 'shop:app'\n{text}")
    assert len(hanbeon_inside("config", "check", cwd=tmp_path).stderr.splitlines()) == 1
    (tmp_path / "hanbeon.toml").write_text("tasks = 1\n[schedules.daily]\ntask = 'x'\ncron = '@daily'\n")
    assert len(hanbeon_inside("config", "check", cwd=tmp_path).stderr.splitlines()) == 1
