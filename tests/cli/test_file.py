"""`hanbeon.toml` on the command line: the file alone, with an App, under SIGHUP, and what is wrong with it."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App
from hanbeon.cli.catalogue import NAMES
from hanbeon.store.operations.queues import declare_queues
from hanbeon.surfaces.store_parts import migrate
from tests.cli.hanbeon import call, hanbeon, hanbeon_inside
from tests.cli.terminal import Terminal
from tests.cli.workers import Running

_MODULE = """
def report(month: str) -> str:
    return f"report of {month}"

def other(month: str) -> str:
    return f"other of {month}"
"""
_REPORT = '[tasks.report]\npython = "shop_tasks:report"\nretries = 0\n'
_SECRET = "s3cr3t"


@pytest.fixture
async def shop(tmp_path: Path, database_url: str) -> Path:
    """A folder with a file, whose database is each of the two in turn."""
    await migrate(database_url)
    (tmp_path / "shop_tasks.py").write_text(_MODULE)
    _write(tmp_path, database_url, _REPORT)
    return tmp_path


def _write(folder: Path, url: str, text: str) -> None:
    # As an editor does: another file under the name. A reader sees the old one or the new one, and no half.
    (folder / "new").write_text(f'[settings]\ndatabase_url = "{url}"\nlease = 10\n{text}')
    (folder / "new").rename(folder / "hanbeon.toml")


async def test_the_file_alone_is_enough_for_every_command(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Running("worker", cwd=shop) as worker:
        assert worker.until("worker_started")["tasks"] == ["report"]
        done = await _hanbeon("enqueue", "report", "month=May", "--wait", cwd=shop)
        assert (done.returncode, done.stdout, done.stderr) == (0, '"report of May"\n', "")
    monkeypatch.delenv("HANBEON_CONFIG", raising=False)
    monkeypatch.chdir(shop)
    (job,) = (await call("jobs", "--json")).document["items"]
    assert job["task"] == "report"
    for command in (
        *(("queues",), ("instances",), ("events",), ("verify",), ("migrate",), ("job", job["id"])),
        *(
            ("explain", job["id"]),
            ("prune", "--dry-run"),
            ("pause", "default"),
            ("config", "check"),
            ("config", "show"),
        ),
    ):
        answer = await call(*command)
        assert (answer.code, answer.err) == (0, ""), command
    (shop / "elsewhere").mkdir()
    monkeypatch.chdir(shop / "elsewhere")
    assert (await call("jobs", "--json", "--config", "../hanbeon.toml")).document["items"] == [job]
    assert (await call("queues")).code in (3, 5), "there is nothing here"
    monkeypatch.setenv("HANBEON_CONFIG", "../hanbeon.toml")
    assert (await call("jobs", "--json")).document["items"] == [job]


async def _hanbeon(*arguments: str, **options: Any) -> Any:
    return await asyncio.to_thread(hanbeon, *arguments, **options)


async def test_sighup_reads_the_file_again(shop: Path, database_url: str) -> None:
    async with App(database_url) as app:
        with Running("worker", cwd=shop) as worker:
            worker.until("worker_started")
            _write(shop, database_url, _REPORT.replace(":report", ":other") + "[queues.mail]\nmax_concurrent = 3\n")
            worker.process.send_signal(signal.SIGHUP)
            line = worker.until("reloaded")
            assert (line["source"], line["queues"], line["settings"]) == ("hanbeon.toml", ["mail"], [])
            done = await _hanbeon("enqueue", "report", "month=May", "--wait", cwd=shop)
            assert done.stdout == '"other of May"\n'
            assert [queue.limits.max_concurrent for queue in await app.queues() if queue.name == "mail"] == [3]

            (shop / "hanbeon.toml").write_text("[tasks.report\n")
            worker.process.send_signal(signal.SIGHUP)
            line = worker.until("reload_refused")
            assert line["level"] == "error"
            assert line["error"].startswith("hanbeon.toml: line 1, column 14: ")
            _write(shop, database_url, _REPORT.replace("report]", "renamed]") + "[settings.x]\n")
            worker.process.send_signal(signal.SIGHUP)
            assert worker.until("reload_refused")["error"].startswith("hanbeon.toml: settings.x: ")
            (instance,) = await app.instances()
            assert instance.tasks == ["report"]

            _write(shop, database_url, "concurrency = 2\npoll = 3\n" + _REPORT.replace("report]", "renamed]"))
            worker.process.send_signal(signal.SIGHUP)
            assert worker.until("restart_needed")["settings"] == ["poll"]
            assert worker.until("reloaded")["settings"] == ["concurrency"]
            (instance,) = await app.instances()
            assert (instance.tasks, instance.capacity) == (["renamed"], 2)
            worker.process.send_signal(signal.SIGTERM)
            worker.until("worker_stopped")
            assert worker.process.wait(30) == 0


def test_sighup_changes_a_command(tmp_path: Path) -> None:
    def say(words: str) -> None:
        (tmp_path / "hanbeon.toml").write_text(f'[tasks.say]\ncommand = ["echo", "{words}"]\nresult = "text"\n')

    say("before")
    with Running("worker", cwd=tmp_path) as worker:
        worker.until("worker_started")
        assert hanbeon("enqueue", "say", "--wait", cwd=tmp_path).stdout == '"before"\n'
        say("after")
        worker.process.send_signal(signal.SIGHUP)
        worker.until("reloaded")
        assert hanbeon("enqueue", "say", "--wait", cwd=tmp_path).stdout == '"after"\n'


def test_sighup_without_a_file_is_logged_and_ignored(tmp_path: Path) -> None:
    (tmp_path / "shop_app.py").write_text("from hanbeon import App\napp = App()\n@app.task\ndef own() -> None: ...\n")
    with Running("worker", "--app", "shop_app:app", cwd=tmp_path) as worker:
        worker.until("worker_started")
        worker.process.send_signal(signal.SIGHUP)
        assert worker.until("reload_ignored")["level"] == "warning"
        worker.process.send_signal(signal.SIGTERM)
        worker.until("worker_stopped")
        assert worker.process.wait(30) == 0


def test_sighup_while_starting_is_handled_after_the_start(tmp_path: Path) -> None:
    (tmp_path / "shop_tasks.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGHUP)\ndef report() -> None: ...\n"
    )
    (tmp_path / "hanbeon.toml").write_text('[tasks.report]\npython = "shop_tasks:report"\n')
    with Running("worker", cwd=tmp_path) as worker:
        worker.until("worker_started")
        worker.until("reloaded")


def test_a_worker_whose_terminal_is_closed_ends(tmp_path: Path) -> None:
    (tmp_path / "hanbeon.toml").write_text(f'{_REPORT}[settings]\ndatabase_url = "sqlite:///jobs.db"\n')
    (tmp_path / "shop_tasks.py").write_text(_MODULE)
    with Terminal("worker", "--config", str(tmp_path / "hanbeon.toml")) as terminal:
        terminal.until("worker_started")
        os.kill(terminal.process.pid, signal.SIGHUP)
        terminal.until("reloaded")
        terminal.hang_up()
        assert terminal.process.wait(30) == 0


async def test_two_workers_with_the_same_file_or_another_do_not_fight(shop: Path, database_url: str) -> None:
    _write(shop, database_url, _REPORT + "[queues.mail]\nmax_concurrent = 3\n[queues.post]\nmax_concurrent = 3\n")
    other = shop / "other.toml"
    other.write_text((shop / "hanbeon.toml").read_text().replace("concurrent = 3", "concurrent = 4"))
    async with App(database_url) as app:

        async def changes() -> list[Any]:
            events = await app.events_after(0)
            return [event.details["limits"]["max_concurrent"] for event in events if event.type == "queue_changed"]

        with Running("worker", cwd=shop) as first, Running("worker", cwd=shop) as second:
            for worker in (first, second):
                worker.until("worker_started")
            assert await changes() == [3, 3], "one of them found the other's work done"
            await app.configure_queue("mail", max_concurrent=1)
            with Running("worker", cwd=shop) as third:
                third.until("worker_started")
                assert {queue.name: queue.limits.max_concurrent for queue in await app.queues()} == {
                    "mail": 1,
                    "post": 3,
                }
            with Running("worker", "--config", "other.toml", cwd=shop) as fourth:
                fourth.until("worker_started")
                assert {queue.name: queue.limits.max_concurrent for queue in await app.queues()} == {
                    "mail": 4,
                    "post": 4,
                }
            assert await changes() == [3, 3, 1, 4, 4]


async def test_queues_show_what_was_declared_where_it_differs(app: App, app_url: str) -> None:
    await app.store.write(
        lambda tx: declare_queues(tx, {"a": {"max_concurrent": 5}, "b": {}, "c": {"roles": {"FE": 1}}})
    )
    await app.configure_queue("a", max_concurrent=2)
    await app.configure_queue("c", roles={})
    lines = (await call("queues", "--database", app_url)).lines
    assert [line.split("  ")[-1].strip() for line in lines[1:]] == [
        "2 at once (declared: 5 at once)",
        "0",
        "(declared: role FE=1)",
    ]
    found = (await call("queues", "--json", "--database", app_url)).document["items"]
    assert [each["declared"] for each in found] == [{"max_concurrent": 5}, {}, {"roles": {"FE": 1}}]


# With an App


_APP = "from hanbeon import App\napp = App(lease=44)\n@app.task\ndef own() -> None: ...\n"


@pytest.fixture
def both(tmp_path: Path) -> Path:
    """A folder with an App and a file that does not name it."""
    (tmp_path / "shop_app.py").write_text(_APP)
    (tmp_path / "shop_tasks.py").write_text(_MODULE)
    (tmp_path / "hanbeon.toml").write_text(_REPORT + "[settings]\nlease = 55\npoll = '2s'\nwatch = 1\n")
    return tmp_path


def _tasks(folder: Path, *options: str, **more: Any) -> list[str]:
    done = hanbeon("tasks", "--json", *options, cwd=folder, **more)
    assert done.returncode == 0, done.stderr
    return [task["name"] for task in json.loads(done.stdout)["tasks"]]


def test_an_app_and_a_file_come_together(both: Path) -> None:
    assert _tasks(both) == ["report"]
    assert _tasks(both, "--app", "shop_app:app") == ["own", "report"]
    assert _tasks(both, HANBEON_APP="shop_app:app") == ["own", "report"]
    assert _tasks(both, "--app", "shop_app:app", HANBEON_CONFIG="") == ["own"]
    (both / "named.toml").write_text("app = 'shop_app:app'\n")
    assert _tasks(both, "--config", "named.toml") == ["own"]
    (both / "hanbeon.toml").write_text("[tasks.own]\ncommand = ['true']\n")
    done = hanbeon("tasks", "--app", "shop_app:app", cwd=both)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'own' is registered already, by shop_app.own" in done.stderr


def test_an_app_that_has_chosen_its_file_keeps_it(both: Path) -> None:
    (both / "chosen.toml").write_text("[tasks.chosen]\ncommand = ['true']\n")
    (both / "chooser.py").write_text("from hanbeon import App\napp = App.from_file('chosen.toml')\n")
    assert _tasks(both, "--app", "chooser:app") == ["chosen"]
    assert _tasks(both, "--app", "chooser:app", "--config", "hanbeon.toml") == ["report"]


def test_every_setting_says_where_it_comes_from(both: Path) -> None:
    def origins(*options: str, **more: Any) -> dict[str, tuple[Any, str]]:
        run = hanbeon if "--app" in options else hanbeon_inside
        done = run("config", "show", "--json", *options, cwd=both, **more)
        assert done.returncode == 0, done.stderr
        return {each["name"]: (each["value"], each["origin"]) for each in json.loads(done.stdout)["settings"]}

    found = origins("--app", "shop_app:app", "--database", "sqlite:///x.db", HANBEON_POLL="9", HANBEON_LEASE="8")
    assert found["database_url"] == ("sqlite:///x.db", "--database")
    assert found["lease"] == (44.0, "the App")
    assert found["poll"] == (9.0, "HANBEON_POLL")
    assert found["watch"] == (1.0, "hanbeon.toml")
    assert found["retention"] == (2592000.0, "default")
    found = origins("--config", str(both / "hanbeon.toml"))
    assert found["lease"] == (55.0, str(both / "hanbeon.toml"))
    (both / "hanbeon.toml").write_text(f'[settings]\ndatabase_url = "postgresql://ada:{_SECRET}@h/x"\n')
    assert origins()["database_url"] == ("postgresql://ada:***@h/x", "hanbeon.toml")


# What is wrong


@pytest.mark.parametrize("command", [("tasks",), ("worker",), ("enqueue", "report"), ("jobs",), ("migrate",)])
def test_a_file_that_is_named_must_be_there(tmp_path: Path, command: tuple[str, ...]) -> None:
    ways: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        (("--config", "no.toml"), {}),
        ((), {"HANBEON_CONFIG": "no.toml"}),
    ]
    for options, more in ways:
        done = hanbeon_inside(*command, *options, cwd=tmp_path, **more)
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr == "error: there is no file no.toml; check --config or HANBEON_CONFIG\n"


@pytest.mark.parametrize("command", ["tasks", "worker"])
def test_error_without_app_or_file_names_both_remedies(tmp_path: Path, command: str) -> None:
    done = hanbeon_inside(command, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pass --app module:name, or write a hanbeon.toml (`hanbeon init hanbeon.toml`)" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [("tasks",), ("worker",), ("enqueue", "report"), ("config", "show")])
def test_a_bad_file_is_one_line_with_its_place(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "hanbeon.toml").write_text("[tasks.build]\n\ncommand = ['make']\ntimeuot = '30m'\n")
    done = hanbeon_inside(*command, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "error: hanbeon.toml: tasks.build.timeuot: a command has no such option; did you mean"
    )
    assert done.stderr.endswith(" (line 4)\n")
    assert [each.name for each in tmp_path.iterdir()] == ["hanbeon.toml"]


def test_check_reports_all_problems_of_a_file(both: Path) -> None:
    (both / "hanbeon.toml").write_text(
        """
        [settings]
        lease = "long"
        database_url = "postgresql://ada:s3cr3t@127.0.0.1:1/shop"
        [tasks.a]
        command = ["no-such-program"]
        [tasks.b]
        command = ["sh"]
        cwd = "nowhere"
        [tasks.c]
        python = "shop_tasks:repotr"
        [queues.q]
        max_concurrent = -1
        [schdules]
        """
    )
    done = hanbeon("config", "check", cwd=both, HANBEON_POLL="x")
    assert (done.returncode, done.stdout) == (2, "")
    places = [line.removeprefix("error: ").split(": ")[:2] for line in done.stderr.splitlines()]
    assert places[0][0] == "poll"
    assert [place for file, place in places[1:] if file == "hanbeon.toml"] == [
        *("settings.lease", "tasks.a.command", "tasks.b.cwd", "tasks.c.python"),
        *("queues.q.max_concurrent", "schdules"),
    ]
    assert _SECRET not in done.stderr
    (both / "hanbeon.toml").write_text("[tasks.\n")
    done = hanbeon_inside("config", "check", "--json", cwd=both)
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem["code"] == "config_invalid"
    (both / "hanbeon.toml").write_text("[tasks.own]\ncommand = ['true']\n")
    done = hanbeon("config", "check", "--app", "shop_app:app", cwd=both)
    assert (done.returncode, "registered already" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    "url",
    [f"postgresql://ada:{_SECRET}@127.0.0.1:1/shop", f"mysql://ada:{_SECRET}@h/x", f"postgresql://a:{_SECRET}@[::1"],
)
async def test_a_password_in_the_file_is_never_shown(tmp_path: Path, url: str) -> None:
    path = tmp_path / "hanbeon.toml"
    path.write_text(f'[settings]\ndatabase_url = "{url}"\nlisten_url = "{url}"\n')
    for command in (("config", "show"), ("config", "check"), ("jobs",), ("migrate",)):
        answer = await call(*command, "--config", str(path))
        assert _SECRET not in answer.out + answer.err
        assert answer.out or answer.err.startswith("error: ")


async def test_every_command_on_a_database_takes_config() -> None:
    without = {name for name in NAMES if "--config" not in (await call(name, "--help")).out}
    assert without == {
        "init",
        "demo",
        "chain",
        "config",
        "deadletter",
        "export",
        "office",
        "schedule",
        "secrets",
        "token",
        "workflow",
    }  # Groups: each of their commands takes it.
    for name in ("show", "check"):
        assert "--config" in (await call("config", name, "--help")).out
