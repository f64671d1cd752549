"""`hanbeon.asgi:application`, imported by a server and by a platform that knows no lifespan, behind a pooler."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import pytest

from hanbeon import App
from hanbeon.asgi import Application
from hanbeon.service.tokens import create_token
from hanbeon.surfaces.store_parts import migrate
from tests.server.asgi_call import call, lifespan
from tests.server.e2e.server_process import until

CONFIG = """
[settings]
poll = 0.5
asgi_worker = {worker}

[tasks.greet]
command = ["echo", "Hello, {{args.name}}!"]
result = "text"
"""
BODY = {"task": "greet", "args": {"name": "에이다"}}


def config(folder: Path, *, worker: bool = False) -> Path:
    path = folder / "hanbeon.toml"
    path.write_text(CONFIG.format(worker=str(worker).lower()))
    return path


async def admin_token(url: str) -> str:
    await migrate(url)
    async with App(url) as app:
        return (await create_token(app.store, "ada", "admin")).text


async def connections_of(url: str) -> int:
    """How many connections of others there are to this database."""
    connection = await asyncpg.connect(url)
    try:
        found: int = await connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return found
    finally:
        await connection.close()


def test_a_loop_for_every_request_leaves_no_connection(
    empty_postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = asyncio.run(admin_token(empty_postgres_url))
    monkeypatch.setenv("HANBEON_CONFIG", str(config(tmp_path)))
    monkeypatch.setenv("HANBEON_DATABASE_URL", empty_postgres_url)
    application = Application()
    for _ in range(3):
        status, made = asyncio.run(call(application, "POST", "/api/engine/jobs", token, BODY))
        assert status == 201
        assert asyncio.run(call(application, "GET", f"/api/engine/jobs/{made['id']}", token))[0] == 200
        until(lambda: asyncio.run(connections_of(empty_postgres_url)) == 0 or None, "its connections to end")


async def test_requests_in_one_loop_share_an_app(pooled_url: str, tmp_path: Path, monkeypatch: Any) -> None:
    token = await admin_token(pooled_url)
    monkeypatch.setenv("HANBEON_CONFIG", str(config(tmp_path)))
    monkeypatch.setenv("HANBEON_DATABASE_URL", pooled_url)
    application = Application()
    found = await asyncio.gather(
        *(call(application, "POST", "/api/engine/jobs", token, BODY) for _ in range(20)),
    )
    assert {status for status, _ in found} == {201}
    # API only: nothing runs here.
    assert {made["state"] for _, made in found} == {"ready"}
    assert (await call(application, "GET", "/api/engine/jobs", "wrong"))[0] == 401


async def test_a_problem_at_the_start_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANBEON_CONFIG", str(tmp_path / "absent.toml"))
    application = Application()
    async with lifespan(application) as answer:
        assert answer["type"] == "lifespan.startup.failed"
        assert "there is no file" in answer["message"]
    status, problem = await call(application, "GET", "/api/engine/jobs", "none")
    assert (status, problem["code"]) == (404, "not_found")
    monkeypatch.setenv("HANBEON_CONFIG", str(config(tmp_path)))
    async with lifespan(application) as answer:  # Tried again, now with the file.
        assert answer["type"] == "lifespan.startup.complete"


@pytest.mark.parametrize("worker", [False, True], ids=["api-only", "worker"])
def test_uvicorn_serves_it_behind_a_pooler(pooled_url: str, tmp_path: Path, worker: bool) -> None:
    token = asyncio.run(admin_token(pooled_url))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "hanbeon.asgi:application", "--host=127.0.0.1", f"--port={port}"]
    environment = {"HANBEON_CONFIG": str(config(tmp_path, worker=worker)), "HANBEON_DATABASE_URL": pooled_url}
    with (
        subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process,
        httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {token}"}) as client,
    ):
        try:
            until(lambda: _ready(client) or None, "uvicorn to serve")
            made = client.post("/api/engine/jobs", json=BODY).json()
            if worker:
                found = until(_done(client, made["id"]), "the job's end")
                assert (found["state"], found["result"]) == ("succeeded", "Hello, 에이다!")
            else:
                assert client.get(f"/api/engine/jobs/{made['id']}").json()["state"] == "ready"
                assert client.get("/api/engine/instances").json()["items"] == []
        finally:
            process.terminate()
            _, said = process.communicate(timeout=120)
        assert process.returncode in (0, -signal.SIGTERM), said  # It ends by the signal, when everything is closed.
        assert "Application shutdown complete" in said


def _ready(client: httpx2.Client) -> bool:
    try:
        return client.get("/readyz").status_code == 200
    except httpx2.TransportError:
        return False


def _done(client: httpx2.Client, job_id: str) -> Callable[[], Any]:
    def look() -> Any:
        found = client.get(f"/api/engine/jobs/{job_id}").json()
        return found if found["state"] in ("succeeded", "failed") else None

    return look
