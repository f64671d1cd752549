"""Every command on a database, over a server and on an App: it works alike in all three, or refuses with a remedy."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hanbeon import App
from hanbeon.cli.catalogue import NAMES
from hanbeon.cli.location import DATABASE_ONLY
from hanbeon.cli.program import command_named
from tests.cli.hanbeon import call
from tests.server.client import serving

_NOBODY = "01890000-0000-7000-8000-000000000000"
_WITHOUT = frozenset(("init", "demo", "export-worker", "secrets list", "secrets check"))
"""Commands that use no installation."""
_ELSEWHERE = frozenset(("worker", "serve", "tick", "restore", "backup", "migrate"))
"""Commands of a database that other tests run: they work until a signal, or on another database."""
_MODULE = """
from hanbeon import App

app = App({url!r})

@app.task
def greet(name: str) -> None: ...
"""
# The arguments of each command, and its exit code. What changes something names nobody, so that it can be repeated.
_CASES: dict[str, tuple[str, int]] = {
    "tasks": ("", 0),
    "enqueue": ("greet name=Ada --queue default --retries 1", 0),
    "jobs": ("--limit 1", 0),
    "job": ("{job}", 0),
    "explain": ("{job}", 0),
    "cancel": ("{nobody}", 3),
    "retry": ("{nobody}", 3),
    "mark-done": ("{nobody} --comment seen", 3),
    "priority": ("{job} --to 3", 0),
    "schedule list": ("", 0),
    "schedule show": ("daily", 0),
    "schedule create": ("gone --cron @daily", 2),
    "schedule change": ("daily --jitter 5", 0),
    "schedule pause": ("daily", 0),
    "schedule resume": ("daily", 0),
    "schedule delete": ("nobody", 3),
    "schedule preview": ("daily", 0),
    "schedule fires": ("daily", 0),
    "run": ("gone", 3),
    "executions": ("", 0),
    "queues": ("", 0),
    "pause": ("default", 0),
    "resume": ("default", 0),
    "limit": ("default --max-concurrent 3", 0),
    "export upload": ("{folder}/empty", 2),
    "export replays": ("", 0),
    "export delete-replay": ("77", 3),
    "export mp4": ("77", 3),
    "export thumbnail": ("77", 3),
    "export list": ("", 0),
    "export show": ("77", 3),
    "export cancel": ("77", 3),
    "export download": ("77 {folder}/video", 3),
    "export explain": ("77", 3),
    "office list": ("", 0),
    "office create": ("Busan --session default=gone", 2),
    "office show": ("Seoul", 0),
    "office change": ("Seoul --name Seoul", 0),
    "office stats": ("Seoul", 0),
    "office simulate": ("Seoul", 0),
    "office jobs": ("Seoul", 0),
    "office add": ("nobody {folder}/jobs.json", 3),
    "office events": ("nobody --follow", 3),
    "office process": ("Seoul", 0),
    "office cancel-all": ("Seoul --yes", 0),
    "office delete": ("nobody --yes", 3),
    "office test-webhook": ("Seoul nobody", 3),
    "office config show": ("Seoul", 0),
    "office config set": ("Seoul maxConcurrentJobs=5", 0),
    "chain list": ("", 0),
    "chain show": ("1", 0),
    "chain create": ("--library gone", 2),
    "chain add": ("77", 3),
    "chain run": ("77", 3),
    "chain runs": ("1", 0),
    "chain resume": ("1", 4),
    "chain skip": ("1", 4),
    "chain abort": ("1", 4),
    "chain explain": ("1", 0),
    "chain delete": ("77", 3),
    "workflow list": ("", 0),
    "workflow show": ("{flow}", 0),
    "workflow create": ("{folder}/invalid.json", 2),
    "workflow activate": ("{nobody}", 3),
    "workflow pause": ("{nobody}", 3),
    "workflow run": ("{nobody}", 3),
    "workflow dry-run": ("{flow}", 0),
    "workflow runs": ("{flow}", 0),
    "workflow history": ("{flow} {nobody}", 3),
    "workflow cancel": ("{flow} {nobody}", 3),
    "workflow retry": ("{flow} {nobody}", 3),
    "workflow monitor": ("", 0),
    "workflow cron": ("", 0),
    "workflow execute": ("", 0),
    "workflow delete": ("{nobody}", 3),
    "token create": ("--user ada --scope root", 2),
    "token list": ("", 0),
    "token revoke": ("77", 3),
    "deadletter list": ("", 0),
    "deadletter show": ("gone", 3),
    "deadletter republish": ("gone", 3),
    "deadletter drop": ("gone", 3),
    "instances": ("", 0),
    "top": ("--once", 0),
    "events": ("", 0),
    "config show": ("", 0),
    "config check": ("", 0),
    "doctor": ("", 0),
    "prune": ("--dry-run", 0),
    "verify": ("", 0),
}
_REFUSED_WITHOUT_FOLLOW = ("events",)


class Place(NamedTuple):
    """An installation in three ways, and what the arguments name."""

    options: Mapping[str, tuple[str, ...]]
    names: dict[str, Any]


@pytest.fixture
async def place(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    (tmp_path / "every_place.py").write_text(_MODULE.format(url=sqlite_url))
    (tmp_path / "empty").touch()
    (tmp_path / "jobs.json").write_text('{"jobs": [{"key": "a"}]}')
    (tmp_path / "invalid.json").write_text("{}")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "every_place", raising=False)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # Not beside the database, which a command would find by default.
    app = App(sqlite_url)
    app.task(name="greet")(_greet)
    async with app:
        async with app.worker():
            pass  # Registers the task.
        job = await app.enqueue("greet", {"name": "Ada"}, delay=3600)
        await app.offices.create(name="Seoul", sessions={"default": "greet"})
        await app.schedules.create("greet", name="daily", cron="@daily", args={"name": "Ada"})
        await app.chains.create()
        steps: list[Any] = [{"name": "rest", "type": "wait", "seconds": 0}]
        flow = await app.workflows.create(name="calm", steps=steps, schedule_config={"mode": "immediate"})
        async with serving(app) as server:
            options = {
                "database": ("--database", sqlite_url),
                "server": ("--server", server.url),
                "app": ("--app", "every_place:app"),
            }
            yield Place(options, {"job": job.id, "flow": flow.id, "nobody": _NOBODY, "folder": tmp_path})


async def _greet(name: str) -> None:
    """Declares the parameters of the task that the module has, too."""
    raise NotImplementedError


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
    else:
        for each in inner:
            yield from _commands(inner[each], f"{name} {each}")


_COMMANDS = dict(pair for name in NAMES for pair in _commands(command_named(name), name))


def test_every_command_has_a_case() -> None:
    assert set(_COMMANDS) == set(_CASES) | _WITHOUT | _ELSEWHERE


async def test_every_command_in_every_place(place: Place) -> None:
    wrong = []
    for name, (arguments, code) in _CASES.items():
        words = [*name.split(), *arguments.format(**place.names).split()]
        refused = name.partition(" ")[0] in DATABASE_ONLY or name in _REFUSED_WITHOUT_FOLLOW
        for kind, option in place.options.items():
            if kind == "database" and "database" not in [each.name for each in _COMMANDS[name].params]:
                continue
            answer = await call(*words, *option)
            if kind == "server" and refused:
                as_expected = answer.code == 2 and "--database" in answer.err
            else:
                as_expected = answer.code == code and "Traceback" not in answer.err
            if not as_expected:
                wrong.append((name, kind, answer))
    assert not wrong


async def test_commands_of_a_database_refuse_a_server() -> None:
    for name, command in _COMMANDS.items():
        if name.partition(" ")[0] in DATABASE_ONLY:
            required = ["x" for each in command.params if each.param_type_name == "argument" and each.required]
            answer = await call(*name.split(), *required, "--server", "http://127.0.0.1:1")
            assert (answer.code, answer.out) == (2, ""), name
            assert f"`hanbeon {name}` works beside the database" in answer.err
            assert "--database" in answer.err


async def test_options_and_environment_choose_the_place(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = (await call("jobs", "--json", *place.options["database"])).document
    for name, (_, value) in (("HANBEON_SERVER", place.options["server"]), ("HANBEON_APP", place.options["app"])):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert (await call("jobs", "--json")).document == listed, name
    both = await call("jobs", *place.options["server"], *place.options["app"])
    assert (both.code, both.err) == (2, "error: server: pass --server or --app, not both: a server has its own App\n")
    monkeypatch.setenv("HANBEON_SERVER", "http://127.0.0.1:1")
    assert (await call("jobs", "--json", *place.options["app"])).document == listed, "an option wins"
