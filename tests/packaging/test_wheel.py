"""The built wheel in clean environments: the core alone, and with each extra."""

import tomllib
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from packaging.requirements import Requirement

from tests.cli.hanbeon import SCRIPT
from tests.databases.valkey import ValkeyServer
from tests.packaging import features
from tests.packaging.environments import Environment, fetch, pythons, serving
from tools.pins import ROOT
from tools.wheel import build, check

DIRECT_MOST, INSTALLED_MOST = 9, 15
_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
_EXTRAS = sorted(_PROJECT["optional-dependencies"].keys() - {"all", "dev"})
_LEAVES = ["psycopg", "redis", "render", "testing"]
_PYTHONS = pythons()
Make = Callable[..., Environment]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def make(tmp_path: Path, wheel: Path) -> Make:
    def environment(extra: str | None, python: str = _PYTHONS[0]) -> Environment:
        return Environment(tmp_path, python, wheel, extra)

    return environment


@pytest.fixture
def receiver() -> Iterator[str]:
    """The address of a server that answers each request with the number 42."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"42")

        do_POST = do_GET

        def log_message(self, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def test_core_has_few_direct_dependencies() -> None:
    direct = {Requirement(each).name for each in _PROJECT["dependencies"]}
    assert len(direct) <= DIRECT_MOST, direct


def test_all_contains_every_extra() -> None:
    (everything,) = _PROJECT["optional-dependencies"]["all"]
    assert sorted(Requirement(everything).extras) == _EXTRAS


def test_features_of_all_extras_are_tested() -> None:
    assert sorted(_FEATURES) == _EXTRAS


def test_wheel_without_the_dashboard_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "hanbeon-1-py3-none-any.whl"
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("hanbeon/server/page/dashboard/index.html", "")
    with pytest.raises(RuntimeError, match="must contain the dashboard"):
        check(empty)


@pytest.mark.slow
@pytest.mark.parametrize("python", _PYTHONS)
def test_core_names_extras_and_all_brings_them(
    python: str, make: Make, receiver: str, request: pytest.FixtureRequest
) -> None:
    core = make(None, python)
    _check_core(core)
    if python in _PYTHONS[1:]:  # Of the first, each extra is tested on its own.
        core.install("all")
        for feature in _FEATURES.values():
            feature(core, receiver, request)


def _check_core(core: Environment) -> None:
    assert "hanbeon" in core.packages()
    assert len(core.packages()) <= INSTALLED_MOST, core.packages()
    for arguments in (["init"], ["migrate"], ["jobs"], ["verify"], ["config", "check"]):
        done = core.hanbeon(*arguments)
        assert done.returncode == 0, (arguments, done.stderr)
    assert core.python(features.CORE) == "42\n"
    for arguments, feature, extra in (
        (["serve"], "hanbeon serve", "server"),
        (["jobs", "--server", "http://127.0.0.1:1"], "a client of a server", "client"),
    ):
        done = core.hanbeon(*arguments)
        message = f"error: {feature} needs the extra '{extra}'; install it with: pip install 'hanbeon[{extra}]'\n"
        assert (done.returncode, done.stderr) == (5, message)


# Extras in one environment have no package in common that one of them could owe to another.
@pytest.mark.slow
@pytest.mark.parametrize(
    "extras", [["server", "patterns", "uvloop"], ["messages", "http"], ["client"], ["otel"], _LEAVES]
)
def test_extra_brings_its_feature(extras: list[str], make: Make, receiver: str, request: pytest.FixtureRequest) -> None:
    installed = make(extras[0] if extras != _LEAVES else ",".join(_LEAVES))
    assert installed.python(features.CORE) == "42\n"
    for each in extras:
        _FEATURES[each](installed, receiver, request)


def _server(installed: Environment, receiver: str, request: pytest.FixtureRequest) -> None:
    with serving(installed.bin / "hanbeon", installed.folder) as url:
        assert "<script" in fetch(f"{url}/")
        assert "hanbeon_" in fetch(f"{url}/metrics")
        assert "openapi" in fetch(f"{url}/openapi.json")


def _client(installed: Environment, receiver: str, request: pytest.FixtureRequest) -> None:
    """Ask a server of the environment of the tests, since its own has none."""
    with serving(SCRIPT, installed.folder) as url:
        done = installed.hanbeon("jobs", "--server", url)
        assert done.returncode == 0, done.stderr


def _http(installed: Environment, receiver: str, request: pytest.FixtureRequest) -> None:
    assert installed.python(features.HTTP, receiver) == "42\n"


def _messages(installed: Environment, receiver: str, request: pytest.FixtureRequest) -> None:
    assert installed.python(features.MESSAGES, receiver) == "True\n"


def _redis(installed: Environment, receiver: str, request: pytest.FixtureRequest) -> None:
    valkey: ValkeyServer = request.getfixturevalue("valkey")
    assert installed.python(features.REDIS, valkey.url) == "True\n"


def _render(installed: Environment, receiver: str, request: pytest.FixtureRequest) -> None:
    assert installed.python(features.RENDER, str(ROOT / "examples/replay.jsonl")) == "True\n"


def _otel(installed: Environment, receiver: str, request: pytest.FixtureRequest) -> None:
    assert '"trace_id"' in installed.python(features.TRACING, OTEL_TRACES_EXPORTER="console")


def _psycopg(installed: Environment, receiver: str, request: pytest.FixtureRequest) -> None:
    assert installed.python(features.PSYCOPG, request.getfixturevalue("postgres_url")) == "True\n"


def _patterns(installed: Environment, receiver: str, request: pytest.FixtureRequest) -> None:
    assert installed.python(features.PATTERNS) == "False\n"


def _testing(installed: Environment, receiver: str, request: pytest.FixtureRequest) -> None:
    assert installed.python(features.SIMULATION) == "()\n"


def _uvloop(installed: Environment, receiver: str, request: pytest.FixtureRequest) -> None:
    assert installed.python(features.UVLOOP) == "uvloop\n"


_FEATURES = {
    "client": _client,
    "http": _http,
    "messages": _messages,
    "otel": _otel,
    "patterns": _patterns,
    "psycopg": _psycopg,
    "redis": _redis,
    "render": _render,
    "server": _server,
    "testing": _testing,
    "uvloop": _uvloop,
}
