"""`hanbeon.toml`: what it says becomes tasks, limits and settings, and what it cannot say is refused with its place."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hanbeon import App
from hanbeon.config.check_commands import missing
from hanbeon.config.document import Document
from hanbeon.config.file import ALIASES, OF_SURFACES, SECTIONS, ConfigFile, examine, find, load, load_settings_of
from hanbeon.config.reader import Reader
from hanbeon.errors import HanbeonError, NotFound, TaskDefinitionError
from hanbeon.settings import Settings, load_settings
from hanbeon.tasks.command import Command
from hanbeon.tasks.http_call import HttpCall
from hanbeon.tasks.task import TaskOptions
from tests.config.files import read, refused, write


def test_the_contracts_example_is_read(folder: Path) -> None:
    file = read(
        folder,
        """
        [tasks.build]
        command = ["python3", "build.py", "--target", "{args.target}"]
        timeout = "30m"
        retries = 2
        roles = ["FE", "BE"]
        [tasks.ping]
        http = { method = "POST", url = "https://example.org/hook" }
        timeout = 10
        [tasks.report]
        python = "config_tasks:plain"
        [queues.default]
        max_concurrent = 0
        [chains]
        libraries = ["mypkg.operations"]
        """,
    )
    build, ping, report = file.tasks
    assert isinstance(build.spec, Command)
    assert [each.text for each in build.spec.argv] == ["python3", "build.py", "--target", "{args.target}"]
    assert build.spec.cwd == str(folder)
    assert (build.options.timeout, build.options.retries, build.options.roles) == (1800.0, 2, ("FE", "BE"))
    assert isinstance(ping.spec, HttpCall)
    assert (ping.spec.line, ping.options.timeout) == ("POST https://example.org/hook", 10)
    assert (report.name, report.function.__name__, report.options) == ("report", "plain", TaskOptions())
    assert file.queues == {"default": {"max_concurrent": 0}}
    assert file.settings["chain_libraries"] == "mypkg.operations"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("http = {ur = 'https://example.org'}", "http.ur: an HTTP call has no such option; did you mean 'url'?"),
        ("http = {method = 'POST'}", "http.url: is missing"),
        ("http = {url = 'https://h/', headers = {A = 5}}", "http.headers.A: must be a string (line 2)"),
        ("http = 'x'", "http: must be a table like"),
        (
            "http = {url = 'https://h/'}\nallow_private = true",
            "allow_private: is an option of the call; write http = { …, allow",
        ),
        ("http = {url = 'https://h/'}\nallow_privat = true", "allow_privat: is an option of the call"),
        (
            "http = {url = 'https://h/', timeout = 3}",
            "http.timeout: is an option of the task; write timeout = … next to http",
        ),
        ("http = {url = 'https://h/'}\nretries = -1", "retries: must be an integer from 0"),
        ("http = {url = 'https://h/'}\nparams = {x = 'txt'}", "params.x: must be one of string, integer"),
    ],
)
def test_problems_of_a_call_are_in_its_inner_table(folder: Path, text: str, message: str) -> None:
    (problem,) = refused(folder, f"[tasks.ping]\n{text}\n")
    assert problem.startswith(f"tasks.ping.{message}")


def test_every_section_has_its_field() -> None:
    own = set(ConfigFile.__struct_fields__) - {"path", "folder", "surfaces"}
    assert set(SECTIONS) == own | set(OF_SURFACES) | set(ALIASES)


def test_a_task_of_an_app_keeps_its_own_options(folder: Path) -> None:
    (task,) = read(folder, '[tasks.monthly]\npython = "config_tasks:report"\nretries = 1\nretry_delay = "2m"').tasks
    assert task.name == "monthly"
    assert (task.options.retries, task.options.queue, task.options.retry_delay) == (1, "slow", 120.0)
    assert task.function.__name__ == "report"


@pytest.mark.parametrize(("cwd", "expected"), [("", "."), ('cwd = "sub/x"', "sub/x"), ('cwd = "/srv"', "/srv")])
def test_a_command_runs_in_a_folder_that_is_the_files(folder: Path, cwd: str, expected: str) -> None:
    (task,) = read(folder, f'[tasks.a]\ncommand = ["true"]\n{cwd}').tasks
    assert isinstance(task.spec, Command)
    assert task.spec.cwd == str(folder / expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[task.build]", "task: unknown section; did you mean 'tasks'? (line 1)"),
        (
            "colour = 1",
            f"colour: unknown key; use one of {', '.join(SECTIONS)} (line 1)",
        ),
        ("tasks = 1", "tasks: must be a table; write [tasks]"),
        ("[tasks]\nbuild = 1", "tasks.build: must be a table; write [tasks.build]"),
        ("[tasks.build]", "tasks.build: must have command, http, python or stream (line 1)"),
        (
            "[tasks.build]\ncomand = ['a']",
            "tasks.build: must have command, http, python or stream; did",
        ),
        (
            "[tasks.x]\ncommand=['a']\npython='a:b'",
            "tasks.x: must have only one of command and python (line 1)",
        ),
        (
            "[tasks.x]\n\ncommand = 'make all'",
            'tasks.x.command: must be a list, since no shell reads it; write ["make", "all"] (line 3)',
        ),
        ("[tasks.x]\ncommand = []", "tasks.x.command: must not be empty"),
        ("[tasks.x]\ncommand = [1]", "tasks.x.command: must be a list of strings, got [1] (line 2)"),
        ("[tasks.x]\ncommand = ['{args.a}']", "tasks.x.command[0]: must not contain a placeholder"),
        ("[tasks.x]\ncommand = ['a', '{arg.a}']", "tasks.x.command[1]: unknown placeholder {arg.a}"),
        (
            "[tasks.x]\ncommand = ['a']\ntimeuot = 1",
            "tasks.x.timeuot: a command has no such option; did you mean 'timeout'?",
        ),
        (
            "[tasks.x]\ncommand = ['a']\ntimeout = '30x'",
            "tasks.x.timeout: must be a duration like 90s",
        ),
        (
            "[tasks.x]\ncommand = ['a']\ntimeout = nan",
            "tasks.x.timeout: must be at most a hundred years",
        ),
        (
            "[tasks.x]\ncommand = ['a']\ntimeout = 1979-05-27",
            "tasks.x.timeout: must be a number or None, got datetime.date(1979, 5, 27)",
        ),
        ("[tasks.x]\ncommand = ['a']\nretries = -1", "tasks.x.retries: must be an integer from 0 (none)"),
        (
            "[tasks.x]\ncommand = ['a']\nretries = true",
            "tasks.x.retries: must be an integer, got True (line 3)",
        ),
        ("[tasks.x]\ncommand = ['a']\nbackoff = 'no'", "tasks.x.backoff: must be one of exponential, linear"),
        ("[tasks.x]\ncommand = ['a']\ncwd = 1", "tasks.x.cwd: must be the path of a folder, got 1 (line 3)"),
        ("[tasks.x]\ncommand = ['a']\nparams = {a = 'txt'}", "tasks.x.params.a: must be one of string, integer"),
        ("[tasks.x]\ncommand = ['a']\nexecutor = 'thread'", "tasks.x.executor: a command has no such option"),
        ("[tasks.x]\ncommand = ['a']\nenv = {A = 's3cr3t', B = 1}", "tasks.x.env.B: must be a string (line 3)"),
        (f"[tasks.{'x' * 201}]\ncommand = ['a']", "task: must be at most 200 characters, got 201"),
        ("[tasks.\"a.b\"]\ncommand = ['a']\nretries = 1.5", 'tasks."a.b".retries: must be an integer, got 1.5'),
        (
            "[tasks.x]\npython = 'config_tasks'",
            "tasks.x.python: must be module:name, for example shop.tasks:report, got 'config_tasks'",
        ),
        ("[tasks.x]\npython = 1", "tasks.x.python: must be module:name, for example shop.tasks:report, got 1"),
        ("[tasks.x]\npython = 'config_nothing:a'", "tasks.x.python: there is no module 'config_nothing'"),
        (
            "[tasks.x]\npython = '.config_tasks:a'",
            "tasks.x.python: must name a module in full, like shop.jobs, got '.config_tasks'",
        ),
        (
            "[tasks.x]\npython = 'config_tasks:repotr'",
            "tasks.x.python: config_tasks has no 'repotr'; did you mean 'report'?",
        ),
        (
            "[tasks.x]\npython = 'config_tasks:number'",
            "tasks.x.python: must name a function or a task, got config_tasks:number (int)",
        ),
        (
            "[tasks.x]\npython = 'config_tasks:other'",
            "tasks.x.python: must name a function or a task, got config_tasks:other (App)",
        ),
        (
            "[tasks.x]\npython = 'config_tasks:plain'\nexecutor = 'async'",
            "tasks.x.executor: task 'x' is a plain function",
        ),
        ("[queues]\nmail = 3", "queues.mail: must be a table; write [queues.mail]"),
        ("[queues.mail]\nmax_concurent = 3", "queues.mail.max_concurent: a queue has no such option; did you mean"),
        ("[queues.mail]\nmax_concurrent = -1", "queues.mail.max_concurrent: must be an integer from 0 to"),
        ("[queues.mail]\nmax_concurrent = '3'", "queues.mail.max_concurrent: must be an integer"),
        ("[queues.mail]\nroles = 3", "queues.mail.roles: must be a mapping of names to integers, got 3"),
        ("[queues.mail]\nroles = {FE = 1.5}", "queues.mail.roles.FE: must be an integer from 0"),
        ("[queues.mail]\npaused = true", "queues.mail.paused: a queue has no such option"),
        ('[queues.""]', 'queues."".name: must not be empty'),
        (
            "[settings]\nconcurency = 3",
            "settings.concurency: [settings] has no such option; did you mean 'concurrency'?",
        ),
        ("[settings]\nlease = 'soon'", "settings.lease: must be a duration"),
        ("[settings]\nlease = -1", "settings.lease: must be a number above 0 and at most 3162240000, got -1 (line 2)"),
        ("[settings]\nlease = inf", "settings.lease: must be a number above 0"),
        ("[settings]\nconcurrency = 'many'", "settings.concurrency: must be an integer, got 'many'"),
        ("[settings]\nconcurrency = true", "settings.concurrency: must be an integer, got True"),
        ("[settings]\ntimezone = 'Mars'", "settings.timezone: must be an IANA time zone, got 'Mars'"),
        ("[settings]\ntimezone = 'localtime'", "settings.timezone: must be an IANA time zone, got 'localtime'"),
        (
            "[settings]\nlease = 8\nstop_grace = '5s'",
            "settings.stop_grace: must be at most 2, a quarter of the lease of 8 s, got 5",
        ),
        ("[settings]\ndatabase_url = ['postgresql://a:s3cr3t@h']", "settings.database_url: must be text, got list"),
        ("app = 1", "app: must be module:name, for example shop.jobs:app, got 1 (line 1)"),
        ("[chains]\nlibrary = []", "chains.library: [chains] has no such option; did you mean 'libraries'?"),
        ("[outbound]\nallow_privat = true", "outbound.allow_privat: [outbound] has no such option; did you mean"),
        ("[outbound]\nallow_private = ['10.1.0.0/8']", "outbound.allow_private: must be true, false or networks like"),
        ("[outbound]\nallow_private = ['here']", "outbound.allow_private: must be true, false or networks like"),
        ("[outbound]\nallow_private = 1", "outbound.allow_private: must be true or false, got 1 (line 2)"),
        (
            "[outbound]\nallow_private = true\n[settings]\noutbound_allow_private = false",
            "settings.outbound_allow_private: must agree with [outbound], which says True",
        ),
        ("[chains]\nlibraries = 'a'", "chains.libraries: must be a list of strings, got 'a'"),
    ],
)
def test_problems_are_reported_with_their_place(folder: Path, text: str, message: str) -> None:
    (problem,) = refused(folder, text)
    assert message in problem
    assert problem.startswith(message[:12]) or message.startswith("task: ")
    assert "s3cr3t" not in problem


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("1 / 0", "config_broken cannot be imported: ZeroDivisionError: division by zero ("),
        ("import config_gone", "config_broken cannot be imported: ModuleNotFoundError: No module named 'config_gone'"),
        ("raise SystemExit(3)", "config_broken cannot be imported: SystemExit: 3"),
        ("def f(:", "config_broken cannot be imported: SyntaxError"),
    ],
)
def test_import_errors_are_reported_with_their_cause(folder: Path, body: str, message: str) -> None:
    (folder / "config_broken.py").write_text(f"\n{body}\n")
    (problem,) = refused(folder, "[tasks.x]\npython = 'config_broken:f'")
    assert problem.startswith(f"tasks.x.python: {message}")
    assert "config_broken.py, line 2" in problem


def test_all_problems_of_a_file_are_found_in_its_order(folder: Path) -> None:
    text = """
    [settings]
    lease = 0
    poll = "x"
    [tasks.a]
    command = "x"
    [tasks.b]
    [tasks.good]
    command = ["true"]
    [queues.q]
    max_per_key = "a"
    [schedule]
    """
    places = [problem.split(": ")[0] for problem in refused(folder, text)]
    assert places == [
        "settings.lease",
        "settings.poll",
        "tasks.a.command",
        "tasks.b",
        "queues.q.max_per_key",
        "schedule",
    ]
    file, _ = examine(folder / "hanbeon.toml")
    assert [task.name for task in file.tasks] == ["good"]
    with pytest.raises(HanbeonError, match=r"settings\.lease"):
        load(folder / "hanbeon.toml")


_SCALARS = st.one_of(
    st.integers(), st.floats(), st.booleans(), st.text(max_size=5), st.lists(st.text(max_size=3), max_size=2)
)
_VALUES = st.one_of(_SCALARS, st.dictionaries(st.text(max_size=3), _SCALARS, max_size=2))
_FIELDS = st.sampled_from(
    [
        *("command", "python", "http", "cwd", "env", "params", "exit_codes", "stdin", "pass_env", "result", "protocol"),
        *TaskOptions.__struct_fields__,
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "tasks": st.one_of(
                _VALUES, st.dictionaries(st.text(max_size=3), st.dictionaries(_FIELDS, _VALUES), max_size=2)
            ),
            "queues": st.one_of(
                _VALUES,
                st.dictionaries(
                    st.text(max_size=3),
                    st.dictionaries(st.sampled_from(["max_concurrent", "max_per_key", "roles", "keys"]), _VALUES),
                ),
            ),
            "settings": st.one_of(_VALUES, st.dictionaries(st.sampled_from(list(Settings.model_fields)), _VALUES)),
            "app": _VALUES,
            "chains": _VALUES,
        },
    )
)
def test_any_content_is_accepted_or_refused(folder: Path, content: dict[str, Any]) -> None:
    path = write(folder, "")
    for name, value in content.items():
        reader = Reader(_Document(path, {name: value}))
        SECTIONS[name](value, reader)
        for problem in reader.problems:
            assert str(problem).startswith(f"{path}: {name}")


class _Document(Document):
    """A document with the given content; hypothesis writes no TOML."""

    def __init__(self, path: Path, content: dict[str, Any]) -> None:
        super().__init__(path, "")
        self.content = content

    def line_of(self, place: Sequence[str]) -> None:
        return None


# Settings


def test_precedence_is_app_environment_file_default(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(folder, "[settings]\nlease = 61\npoll = '1m2s'\nwatch = 0.3\nretention = '7d'\n")
    monkeypatch.setenv("HANBEON_LEASE", "62")
    monkeypatch.setenv("hanbeon_poll", "63")
    app = App(lease=64).use(load(path))
    assert (app.settings.lease, app.settings.poll, app.settings.watch) == (64, 63, 0.3)
    assert (app.settings.retention, app.settings.prune_every) == (7 * 86_400, 60)
    assert load_settings(load_settings_of(path)).lease == 62
    assert App.from_file(path, watch=0.4).settings.watch == 0.4


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("sqlite:///jobs.db", "sqlite:///{}/jobs.db"),
        ("sqlite:///../x/jobs.db", "sqlite:///{parent}/x/jobs.db"),
        ("sqlite:////var/jobs.db", "sqlite:////var/jobs.db"),
        ("postgresql://host/shop", "postgresql://host/shop"),
    ],
)
def test_the_database_of_a_file_is_the_same_from_everywhere(folder: Path, url: str, expected: str) -> None:
    file = read(folder, f"[settings]\ndatabase_url = '{url}'")
    assert file.settings["database_url"] == expected.format(folder, parent=folder.parent)


def test_load_settings_of_imports_no_tasks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    path = write(folder, "[settings]\nlease = 5\n[tasks.x]\npython = 'config_nothing:f'\n")
    assert load_settings_of(path) == {"lease": 5}


# Apps


def test_a_file_is_found_by_name_by_the_environment_or_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("HANBEON_CONFIG", raising=False)
    assert find() is None
    with pytest.raises(NotFound, match=r"there is no hanbeon\.toml here; give its path, or set HANBEON_CONFIG"):
        App.from_file()
    write(folder, "")
    assert find() == Path("hanbeon.toml")
    monkeypatch.setenv("HANBEON_CONFIG", "other.toml")
    assert find() == Path("other.toml")
    assert find("third.toml") == Path("third.toml")
    monkeypatch.setenv("HANBEON_CONFIG", "")
    assert find() is None


def test_a_file_can_take_an_app_along(folder: Path) -> None:
    (folder / "config_app.py").write_text(
        "from hanbeon import App\napp = App(lease=44)\n@app.task\ndef own() -> None: ...\n"
    )
    app = App.from_file(write(folder, "app = 'config_app:app'\n[tasks.more]\ncommand = ['true']\n"))
    assert (app.tasks.names(), app.settings.lease) == (["more", "own"], 44)
    assert app is sys.modules["config_app"].app
    with pytest.raises(TaskDefinitionError, match=r"'own' is registered already, by config_app\.own"):
        App.from_file(write(folder, "app = 'config_app:app'\n[tasks.own]\ncommand = ['true']\n"))
    assert app.tasks.names() == ["more", "own"]
    app = App.from_file(write(folder, "app = 'config_app:app'\n[tasks.own]\npython='config_app:own'\nretries = 9\n"))
    assert (app.tasks.names(), app.tasks.get("own").options.retries) == (["own"], 9)


def test_another_file_takes_the_place_of_the_first(folder: Path) -> None:
    app = App.from_file(write(folder, "[tasks.a]\ncommand = ['true']", "a.toml"))
    app.use(load(write(folder, "[tasks.b]\ncommand = ['true']", "b.toml")))
    assert app.tasks.names() == ["b"]
    app.use(None, lease=33)
    assert (app.tasks.names(), app.settings.lease) == (["b"], 33)


# What only a machine can know


def test_programs_and_folders_that_are_not_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "run.sh"
    program.write_text("#!/bin/sh\n")
    tables = {
        "a": "command = ['sh']",
        "b": "command = ['no-such-program']",
        "c": "command = ['sh']\ncwd = 'nowhere'",
        "d": "command = ['./run.sh']",
        "e": "command = ['sh']\nenv = {PATH = '/nowhere'}",
    }
    file = read(folder, "\n".join(f"[tasks.{name}]\n{text}" for name, text in tables.items()))
    found = [str(each).removeprefix(f"{file.path}: ") for each in missing(file)]
    assert found == [
        "tasks.b.command: 'no-such-program' is not on the PATH; install it, or write its full path (line 4)",
        f"tasks.c.cwd: there is no folder {folder}/nowhere; create it, or choose another (line 7)",
        "tasks.d.command: './run.sh' does not exist or is not executable; install it, or write its full path (line 9)",
        "tasks.e.command: 'sh' is not on the PATH; install it, or write its full path (line 11)",
    ]
    program.chmod(0o755)
    assert len(list(missing(file))) == 3


def test_the_default_database_is_beside_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    file = read(folder, "[tasks.a]\ncommand = ['echo']\n")
    assert load_settings(file.settings).database_url == f"sqlite:///{folder}/hanbeon.db"
    assert load_settings_of(file.path) == file.settings


def test_outbound_is_a_setting_by_another_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    file = read(folder, "[outbound]\nallow_private = ['10.1.0.0/16', '127.0.0.1']\n")
    assert file.settings == {"outbound_networks": "10.1.0.0/16 127.0.0.1/32"}
    file = read(folder, "[outbound]\nallow_private = true\n")
    assert file.settings == {"outbound_allow_private": True}
    assert load_settings_of(file.path) == {"outbound_allow_private": True}
