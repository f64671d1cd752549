"""Commands of operators against a server process: as beside the database, with a token and without the database."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import pytest

from hanbeon import App
from hanbeon.domain.lifecycle import State
from hanbeon.errors import JobFailed
from tests.cli.hanbeon import Answer, call
from tests.cli.workers import Running

_TASKS = """
from hanbeon import App, Context

app = App()

@app.task
async def greet(ctx: Context, name: str) -> str:
    ctx.log(f"greeting {name}")
    return f"Hello, {name}!"

@app.task(retries=1, retry_delay=0.001)
async def explode() -> None:
    raise ValueError("broken pipe")
"""
_AGE = re.compile(r"\S+ ago|in \d\S+")
_MOVING = frozenset(("at", "oldest_ready", "seconds", "throughput", "seen_at", "running"))


class Installation(NamedTuple):
    """A database and a server in front of it, with a token of scope admin and one of scope read."""

    app: App
    database: str
    url: str
    admin: str
    reader: str
    folder: Path


@pytest.fixture
async def served(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Installation]:
    async with _serving(database_url, tmp_path, monkeypatch) as served:
        yield served


@pytest.fixture
async def sqlite_served(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Installation]:
    async with _serving(sqlite_url, tmp_path, monkeypatch) as served:
        yield served


@contextlib.asynccontextmanager
async def _serving(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Installation]:
    (tmp_path / "served.py").write_text(_TASKS)
    app = App(database_url)
    tokens = []
    for user, scope in (("ada", "admin"), ("bob", "read")):
        made = await call("token", "create", "--user", user, "--scope", scope, "--database", database_url)
        tokens += made.lines
    async with app:
        app.task(name="greet")(_greet)
        app.task(name="explode", retries=1, retry_delay=0.001)(_explode)
        with Running(
            "serve", "--app", "served:app", "--database", database_url, "--port", "0", cwd=tmp_path
        ) as running:
            url = (await asyncio.to_thread(running.until, "server_started"))["url"]
            monkeypatch.setenv("HANBEON_TOKEN", tokens[0])
            yield Installation(app, database_url, url, tokens[0], tokens[1], tmp_path)


async def _greet(name: str) -> str:
    """Declares the parameters of the task of the same name in the server's process."""
    raise NotImplementedError


async def _explode() -> None:
    raise NotImplementedError


async def _both(served: Installation, *command: str) -> tuple[Answer, Answer]:
    return await call(*command, "--server", served.url), await call(*command, "--database", served.database)


def _still(found: Any) -> Any:
    """Return a document without what changes by itself, and with instants to the millisecond, as servers have them."""
    if isinstance(found, dict):
        return {name: _still(value) for name, value in found.items() if name not in _MOVING}
    if isinstance(found, list):
        return [_still(each) for each in found]
    return _AGE.sub("ago", re.sub(r"(\d\d\.\d{3})\d{3}([+-])", r"\1\2", found)) if isinstance(found, str) else found


async def test_server_and_database_print_the_same(served: Installation) -> None:
    greeted = await served.app.enqueue("greet", {"name": "Ada"}, role="FE", work_item="W-1", unique_key="ada")
    failed = await served.app.enqueue("explode")
    await served.app.pause("held")
    waiting = await served.app.enqueue("greet", {"name": "Bob"}, queue="held", priority=3, delay=3600)
    behind = await served.app.enqueue("greet", {"name": "Eve"}, queue="held", after=[waiting])
    assert await greeted.result(timeout=60) == "Hello, Ada!"
    with pytest.raises(JobFailed):
        await failed.result(timeout=60)

    commands = [
        ("jobs",),
        ("jobs", "--state", "failed", "--state", "succeeded"),
        ("jobs", "--queue", "held", "--task", "greet"),
        ("jobs", "--limit", "2"),
        ("job", greeted.id, "--log"),
        ("job", greeted.id, "--follow"),
        *(("explain", each.id) for each in (greeted, failed, waiting, behind)),
    ]
    for command in commands:
        remote, local = await _both(served, *command)
        assert _AGE.sub("ago", remote.out) == _AGE.sub("ago", local.out), command
        assert (remote.code, remote.err) == (local.code, local.err)
        assert local.out
    for command in (
        *commands,
        *(("job", each.id) for each in (greeted, failed, waiting, behind)),
        ("queues",),
        ("instances",),
        ("top",),
    ):
        if "--follow" in command or "--log" in command:
            continue
        remote, local = await _both(served, *command, "--json")
        assert _still(remote.document) == _still(local.document), command
    page = (await call("jobs", "--limit", "2", "--json", "--server", served.url)).document
    rest = await call("jobs", "--after", page["next_cursor"], "--json", "--server", served.url)
    assert [job["id"] for job in page["items"] + rest.document["items"]] == [
        *(behind.id, waiting.id, failed.id, greeted.id)
    ]
    frame = (await call("top", "--once", "--server", served.url)).out
    assert served.url in frame
    assert "held" in frame


async def test_actions_over_a_server_are_those_of_the_token(served: Installation) -> None:
    await served.app.pause("held")
    jobs = [await served.app.enqueue("greet", {"name": "Ada"}, queue="held") for _ in range(4)]
    where = ("--server", served.url)
    assert (await call("cancel", jobs[0].id, *where)).lines == [f"{jobs[0].id} cancelled"]
    assert (await call("retry", jobs[0].id, *where)).lines == [f"{jobs[0].id} ready"]
    assert (await call("priority", jobs[1].id, "--to", "7", "--urgent", *where)).lines == [f"{jobs[1].id} ready"]
    assert [(job.priority, job.urgent) for job in [await jobs[1].record()]] == [(7, True)]
    assert (await call("limit", "held", "--role", "FE=2", *where)).lines == ["held: paused, role FE=2"]
    many = await call("cancel", "--queue", "held", "--yes", "--json", *where)
    assert sorted(many.document["cancelled"]) == sorted(job.id for job in jobs)
    await call("retry", jobs[0].id, *where)
    again = await call("retry", jobs[0].id, *where)
    assert (again.code, again.out) == (4, ""), again
    assert (await call("resume", "held", *where)).lines == ["held: role FE=2"]

    recorded = [(each.user, each.via, each.count) async for each in _actions(served)]
    assert {user for user, via, _ in recorded if via == "rest"} == {"ada"}
    assert ("ada", "rest", 4) in recorded


async def _actions(served: Installation) -> AsyncIterator[Any]:
    for each in (await served.app.engine.actions()).items:
        yield each


async def test_token_is_needed_and_never_shown(sqlite_served: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    served = sqlite_served
    job = await served.app.enqueue("greet", {"name": "Ada"}, delay=3600)
    where = ("--server", served.url)

    monkeypatch.delenv("HANBEON_TOKEN")
    missing = await call("jobs", *where)
    assert missing.code == 2
    assert "HANBEON_TOKEN" in missing.err

    file = served.folder / "token"
    file.write_text(f"{served.reader}\n")
    assert (await call("jobs", "--token-file", str(file), *where)).code == 0
    monkeypatch.setenv("HANBEON_TOKEN_FILE", str(file))
    monkeypatch.setenv("HANBEON_SERVER", served.url)
    assert (await call("jobs", "--json")).document["items"][0]["id"] == job.id
    refused = await call("cancel", job.id)
    assert (refused.code, refused.out) == (2, "")
    assert "scope admin" in refused.err
    assert await job.state() is not State.CANCELLED

    monkeypatch.setenv("HANBEON_TOKEN", "wrong-token-of-somebody")
    assert (await call("jobs")).code == 2
    monkeypatch.delenv("HANBEON_TOKEN_FILE")
    wrong = await call("jobs")
    assert wrong.code == 2
    assert "revoked" in wrong.err
    monkeypatch.setenv("HANBEON_TOKEN", "odd\nsecret")
    odd = await call("jobs")
    assert odd.code == 2
    for answer in (missing, refused, wrong, odd):
        assert not any(secret in answer.out + answer.err for secret in ("somebody", "secret", served.reader))
    monkeypatch.setenv("HANBEON_TOKEN_FILE", str(served.folder / "nowhere"))
    monkeypatch.delenv("HANBEON_TOKEN")
    assert (await call("jobs")).code == 3
    assert "--token " not in (await call("jobs", "--help")).out


async def test_server_errors_name_the_remedy(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    both = await call("jobs", "--server", "http://127.0.0.1:1", "--database", sqlite_url)
    assert (both.code, both.err) == (2, "error: server: pass --server or --database, not both\n")
    monkeypatch.setenv("HANBEON_SERVER", "http://127.0.0.1:1")
    assert (await call("jobs", "--database", sqlite_url)).code == 0, "an option wins over the environment"
    monkeypatch.setenv("HANBEON_DATABASE_URL", sqlite_url)
    ambiguous = await call("jobs")
    assert ambiguous.code == 2
    assert "HANBEON_SERVER and HANBEON_DATABASE_URL" in ambiguous.err
    invalid = await call("jobs", "--server", "127.0.0.1:8000")
    assert (invalid.code, invalid.err.count("server: must be an address")) == (2, 1)
    for option in (("--oldest",), ("--work-item", "W-1")):
        answer = await call("jobs", *option, "--server", "http://127.0.0.1:1")
        assert answer.code == 2
        assert "requires a database" in answer.err

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    gone = await call("jobs", "--server", f"http://ada:hush@127.0.0.1:{port}")
    assert gone.code == 5
    assert "hanbeon serve" in gone.err
    assert "hush" not in gone.err


@pytest.mark.parametrize(
    ("health", "said"),
    [
        (b"<html>hello</html>", "there is no Hanbeon server at"),
        (b'{"status": "ok", "version": "99.0"}', "is Hanbeon 99.0"),
    ],
)
async def test_other_servers_are_told_apart(health: bytes, said: str) -> None:
    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = health if self.path == "/healthz" else b'{"items": [{"id": 1}], "next_cursor": null}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as other:
        Thread(target=other.serve_forever, daemon=True).start()
        answer = await call("jobs", "--server", f"http://127.0.0.1:{other.server_port}")
        other.shutdown()
    assert answer.code == 5
    assert said in answer.err
