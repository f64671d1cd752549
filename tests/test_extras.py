"""Packages of extras: none is loaded before it is used, and a feature without its package names the extra."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from hanbeon.errors import ExtraMissing
from hanbeon.extras import extra
from tests.cli.hanbeon import environment
from tools.pins import ROOT

_OF_EXTRAS = [
    *(
        "PIL",
        "apprise",
        "av",
        "cryptography",
        "greenlet",
        "httpcore2",
        "httpx2",
        "idna",
        "jwt",
        "markdown",
        "opentelemetry",
    ),
    *("prometheus_client", "psycopg", "pydantic", "python_multipart", "re2", "redis", "requests", "standardwebhooks"),
    *("starlette", "uvicorn", "uvloop", "websockets"),
]

_OF_COMMANDS = ["click", "rich", "typer"]
_DRIVERS = ["apsw", "asyncpg"]
_LOADED = f"print('loaded:', *sorted({{*{_OF_EXTRAS + _OF_COMMANDS + _DRIVERS!r}}} & sys.modules.keys()))"
_COMMAND = """
sys.argv = ["hanbeon", *{arguments!r}]
from hanbeon.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
_WORK = """
import asyncio
from hanbeon import App
app = App("sqlite:///jobs.db")
@app.task
async def double(n: int) -> int:
    return 2 * n
async def work():
    async with app, app.worker():
        job = await app.enqueue(double.call(21))
        assert await job.result(timeout=120) == 42
asyncio.run(work())
"""
_OPEN = """
import asyncio
from hanbeon import App
async def work():
    async with App("sqlite:///jobs.db", {settings}) as app, app.worker():
        pass
asyncio.run(work())
"""
# As in an environment without the extras. The slow tests of tests/packaging have real ones.
_WITHOUT = f"sys.modules.update(dict.fromkeys({_OF_EXTRAS!r}))\n"


def _run(program: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"import sys\n{program}"],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
        env=environment(**more),
    )


def _loaded(program: str, folder: Path, **more: str) -> list[str]:
    done = _run(f"{program}\n{_LOADED}", folder, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split()[1:]


def test_importing_app_loads_no_driver_server_or_renderer(tmp_path: Path) -> None:
    assert _loaded("from hanbeon import App; App('sqlite:///jobs.db')", tmp_path) == []
    assert _loaded("from hanbeon import App; App('postgresql:///shop')", tmp_path) == []


def test_a_program_that_only_enqueues_loads_no_worker(tmp_path: Path) -> None:
    """Nor what lists the time zones of the machine, before one is chosen: each was a tenth of the import."""
    program = """
from hanbeon import App
worker = ("hanbeon.engine", "hanbeon.worker_factory", "hanbeon.cli", "importlib.resources", "zipfile", "typer")
print(sorted(name for name in sys.modules if name.startswith(worker)))
"""
    done = _run(program, tmp_path)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_help_loads_nothing(tmp_path: Path) -> None:
    assert _loaded(_COMMAND.format(arguments=["--help"]), tmp_path) == []


def test_work_and_commands_on_sqlite_load_no_other_driver(tmp_path: Path) -> None:
    assert _loaded(_WORK, tmp_path) == ["apsw"]
    command = _COMMAND.format(arguments=["jobs", "--json"])
    assert _loaded(command, tmp_path, HANBEON_DATABASE_URL="sqlite:///jobs.db") == ["apsw", "rich", "typer", "uvloop"]


def test_core_works_without_packages_of_extras(tmp_path: Path) -> None:
    done = _run(_WITHOUT + _WORK, tmp_path)
    assert done.returncode == 0, done.stderr
    for arguments in (["jobs"], ["config", "check"], ["verify"], ["office", "list"], ["workflow", "list"]):
        done = _run(_WITHOUT + _COMMAND.format(arguments=arguments), tmp_path, HANBEON_DATABASE_URL="sqlite:///jobs.db")
        assert done.returncode == 0, (arguments, done.stderr)


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        (["serve"], {}, "hanbeon serve needs the extra 'server'"),
        (["jobs", "--server", "http://127.0.0.1:1"], {}, "a client of a server needs the extra 'client'"),
        (["worker"], {}, "a worker of HTTP tasks needs the extra 'http'"),
        (["config", "check"], {"HANBEON_JWT_ISSUER": "https://example.org"}, "jwt_issuer needs the extra 'server'"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_command_names_the_missing_extra(
    arguments: list[str], settings: dict[str, str], message: str, tmp_path: Path
) -> None:
    (tmp_path / "hanbeon.toml").write_text('tasks.ping.http = { url = "https://example.org/" }')
    program = _COMMAND.format(arguments=arguments).replace("    assert not end.code, end.code", "    raise")
    done = _run(_WITHOUT + program, tmp_path, **settings)
    extra = message.split("'")[1]
    assert done.stderr == f"error: {message}; install it with: pip install 'hanbeon[{extra}]'\n"
    assert done.returncode == 5


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import hanbeon.asgi", "hanbeon.asgi needs the extra 'server'"),
        (_OPEN.format(settings="redis_url='redis://127.0.0.1:1'"), "redis_url needs the extra 'redis'"),
        (_OPEN.format(settings="tracing=True"), "tracing needs the extra 'otel'"),
        (
            "from hanbeon.executors.http.executor import new_client\nnew_client(None, 1)",
            "an HTTP request needs the extra 'http'",
        ),
        (
            "from hanbeon.outbound.origin import split_url\nsplit_url('https://b\u00fccher.example/', 'url')",
            "a host name that is not ASCII needs the extra 'http'",
        ),
        (
            "from hanbeon.tasks.parameters import pattern_of\npattern_of('a+')",
            "a parameter with a pattern needs the extra 'patterns'",
        ),
        (
            "from hanbeon.outbound.messages import check_url\ncheck_url('json://localhost', 'json')",
            "a notification needs the extra 'messages'",
        ),
        (
            "from hanbeon.surfaces.exports.rendering.libraries import check_installed\ncheck_installed()",
            "rendering needs the extra 'render'",
        ),
        ("import hanbeon.testing.simulation", "a simulation needs the extra 'testing'"),
    ],
    ids=lambda value: "" if "\n" in value else value,
)
def test_feature_names_the_missing_extra(program: str, message: str, tmp_path: Path) -> None:
    done = _run(_WITHOUT + program, tmp_path)
    extra = message.split("'")[1]
    expected = f"hanbeon.errors.ExtraMissing: {message}; install it with: pip install 'hanbeon[{extra}]'"
    assert done.stderr.splitlines()[-1] == expected


def test_message_without_its_extra_fails_with_the_remedy(tmp_path: Path) -> None:
    """Retried: a worker that has the extra may take the next attempt."""
    program = """
import asyncio
from hanbeon.messages import Message, MessageFailed, Messenger
from hanbeon.outbound.secrets import Secrets
from hanbeon.settings import Settings
try:
    asyncio.run(Messenger(Settings(), Secrets({})).send(Message("json://localhost", "title", "body")))
except MessageFailed as error:
    print(error.permanent, error)
"""
    done = _run(_WITHOUT + program, tmp_path)
    message = "a notification needs the extra 'messages'; install it with: pip install 'hanbeon[messages]'"
    assert done.stdout == f"False {message}\n", done.stderr


def test_error_of_our_own_module_is_no_missing_extra() -> None:
    with pytest.raises(ImportError, match="no_such_name"), extra("server", "this"):
        from hanbeon.extras import no_such_name  # type: ignore[attr-defined]  # noqa: F401


def test_broken_package_says_why() -> None:
    why = r"this needs the extra 'render' \(cannot load libx\); install it with"
    with pytest.raises(ExtraMissing, match=why), extra("render", "this"):
        raise ImportError("cannot load libx", name="av._core")


def test_extras_in_messages_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    source = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r"(?:with extra|check_extra)\(\"(\w+)\"", source))
    assert named
    assert named <= extras.keys()
