"""Health, metrics and documentation pages of a server."""

import asyncio
import json
import re
import time
from pathlib import Path

import pytest

from hanbeon import App
from hanbeon.errors import DatabaseCorrupt, Kind
from hanbeon.server import dashboard, database_watch
from hanbeon.server.problems import REFUSALS, STATUS
from tests.absence import unavailable
from tests.databases.locks import somebody_waits
from tests.databases.proxy import fault_proxy
from tests.databases.refusals import full_disk, read_only, small_disk
from tests.server.client import Client, serving
from tests.storm.moments import direct, until


async def test_a_server_is_alive_and_ready(server: Client) -> None:
    for path in ("/healthz", "/readyz"):
        answer = await server.get(path)
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
        assert (await server.ask("HEAD", path)).body == b""


async def test_ready_means_that_the_schema_is_right(app: App, server: Client) -> None:
    await _run(app, "UPDATE hanbeon.schema_version SET runs_from = 99")
    try:
        answer = await server.get("/readyz")
        assert (answer.status, answer.code) == (503, "schema_too_new")
        assert answer.headers["retry-after"] == "1"
        assert (await server.get("/healthz")).status == 200
    finally:
        await _run(app, "UPDATE hanbeon.schema_version SET runs_from = 1")
    assert (await server.get("/readyz")).status == 200


async def _run(app: App, sql: str) -> None:
    async with app.transaction() as tx:
        await tx.fetch(sql if app.settings.database_url.startswith("postgres") else sql.replace("hanbeon.", "hanbeon_"))


async def test_without_its_database_a_server_lives_but_is_not_ready(postgres_url: str) -> None:
    app = App(postgres_url)
    await app.migrate()
    async with app, serving(app) as client:
        assert (await client.get("/readyz")).status == 200
        await app.store.database.close()
        assert (await client.get("/healthz")).status == 200
        for path in ("/readyz", "/metrics"):
            answer = await client.get(path)
            assert (answer.status, answer.code) == (503, "database_unavailable")


async def test_server_that_cannot_write_is_not_ready(postgres_url: str) -> None:
    async with App(postgres_url) as app, serving(app) as client:
        assert (await client.get("/readyz")).status == 200
        async with read_only(postgres_url):
            await until("a 503", lambda: _readiness(client, 503))
            assert (await client.get("/healthz")).status == 200
        await until("a 200", lambda: _readiness(client, 200))


async def test_server_on_a_full_disk_is_not_ready() -> None:
    with small_disk(4) as folder:
        url = f"sqlite:///{folder}/hanbeon.db"
        async with App(url) as app, serving(app) as client:
            assert (await client.get("/readyz")).status == 200
            async with full_disk(folder)(url):
                await until("a 503", lambda: _readiness(client, 503))
            await until("a 200", lambda: _readiness(client, 200))


async def _readiness(client: Client, status: int) -> bool | None:
    return True if (await client.get("/readyz")).status == status else None


async def test_server_on_damaged_pages_is_not_ready(sqlite_url: str) -> None:
    app = App(sqlite_url)

    @app.task
    async def work(text: str) -> None: ...

    async with app:
        await app.enqueue_many([work.call("x" * 1_000) for _ in range(1_000)])
    _damage(Path(sqlite_url.removeprefix("sqlite:///")))
    async with app, serving(app) as client:
        assert (await client.get("/readyz")).status == 200, "nobody has come across them yet"
        with pytest.raises(DatabaseCorrupt, match="restore it"):
            await app.jobs(limit=1_000)
        answer = await client.get("/readyz")
        assert (answer.status, answer.code) == (503, "database_corrupt")


def _damage(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        # Behind the first pages of the tables, which a probe reads, too.
        file.seek(size // 2)
        file.write(b"\xff" * (size // 4))


async def test_first_request_to_a_frozen_database_gets_its_503(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = ("_ASK_AFTER_SECONDS", "_PROBE_SECONDS")
    assert sum(getattr(database_watch, wait) for wait in waits) < database_watch.ANSWER_SECONDS == 10
    for wait in waits:
        monkeypatch.setattr(database_watch, wait, 0.5)
    async with fault_proxy(postgres_url) as proxy, App(proxy.url) as app, serving(app) as client:
        assert (await client.get("/api/offices")).status == 200
        proxy.silence()
        began = time.monotonic()
        answers = await asyncio.gather(*(client.get("/api/offices") for _ in range(3)))
        assert time.monotonic() - began < 20, "long before a statement times out"
        assert {(each.status, each.code, each.headers["retry-after"]) for each in answers} == {
            (503, "database_unavailable", "1")
        }
        proxy.cut()
        proxy.heal()
        assert (await client.get("/api/offices")).status == 200


async def test_slow_database_is_waited_for(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_watch, "_ASK_AFTER_SECONDS", 0.1)
    async with App(postgres_url) as app, serving(app) as client, direct(postgres_url) as other:
        async with other.transaction():
            await other.execute("LOCK TABLE hanbeon.office IN ACCESS EXCLUSIVE MODE")
            asking = asyncio.create_task(client.post("/api/offices", {"name": "patient"}))
            assert await somebody_waits(postgres_url, asking)
            await asyncio.wait([asking], timeout=2)
            assert not asking.done()
        assert (await asking).status == 201


async def test_numbers_are_those_of_the_database_and_of_the_server(app: App, server: Client) -> None:
    @app.task
    async def greet() -> None: ...

    await app.enqueue_many([greet.call(), greet.call()])
    assert (await server.get("/nowhere/7")).status == 404
    answer = await server.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    text = answer.body.decode()
    assert 'hanbeon_jobs{queue="default",state="ready"} 2.0' in text
    assert "hanbeon_instances 0.0" in text
    assert 'hanbeon_http_requests_total{method="GET",route="unknown",status="404"} 1.0' in text
    assert "/nowhere" not in text


async def test_methods_that_nobody_knows_are_one_number(server: Client) -> None:
    for method in ("BREW", "WHEN"):
        assert (await server.ask(method, "/healthz")).code == "wrong_method"
    text = (await server.get("/metrics")).body.decode()
    assert re.search(r'requests_total\{method="other",route="[^"]*",status="405"\} 2.0', text)


async def test_address_alone_shows_the_dashboard_or_why_not(
    sqlite_server: Client, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = await sqlite_server.get("/")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    monkeypatch.setattr(dashboard, "FOLDER", Path("/nowhere"))
    async with App(sqlite_url) as app, serving(app) as server:
        assert b"npm registry could not be reached" in (await server.get("/")).body
        assert (await server.get("/dashboard/app.js")).code == "not_found"
        assert (await server.get("/dashboard/chunks/home.js")).code == "not_found"


async def test_browsers_keep_chunks_and_ask_for_the_rest(sqlite_server: Client) -> None:
    script = await sqlite_server.get("/dashboard/app.js")
    if script.status != 200:
        unavailable("the dashboard is not built; `make setup` builds it where the npm registry can be reached")
    assert script.headers["cache-control"] == "no-cache"
    chunks = re.findall(r'"\.(/chunks/[\w-]+\.js)"', script.body.decode())
    assert chunks
    for path in chunks:
        chunk = await sqlite_server.get(f"/dashboard{path}")
        assert (chunk.status, chunk.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
        assert chunk.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert (await sqlite_server.get("/dashboard/chunks/..%2Findex.html")).status == 404


async def test_the_page_needs_nothing_from_elsewhere(server: Client) -> None:
    page = await server.get("/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    for path in re.findall(r'(?:src|href)="([^"]+)"', page.body.decode()):
        assert path.startswith("/")
        part = await server.get(path)
        assert part.status == 200
        assert b"//cdn" not in part.body
        assert b"https:" not in part.body


async def test_openapi_document_is_valid_and_references_resolve(server: Client) -> None:
    answer = await server.get("/openapi.json")
    description = answer.json
    assert description["openapi"].startswith("3.1")
    assert {"/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"} <= description["paths"].keys()
    for name in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(description)):
        assert name in description["components"]["schemas"]


@pytest.mark.parametrize("request_id", ["a-1.b_c", "x" * 64])
async def test_a_request_keeps_the_id_that_it_brings(server: Client, request_id: str) -> None:
    assert (await server.get("/healthz", X_Request_Id=request_id)).headers["x-request-id"] == request_id


@pytest.mark.parametrize("request_id", ["", "x" * 65, "a b", "a{}", "ü"])
async def test_an_id_that_could_be_anything_is_replaced(server: Client, request_id: str) -> None:
    given = (await server.get("/healthz", X_Request_Id=request_id)).headers["x-request-id"]
    assert given != request_id
    assert len(given) == 36


async def test_unknown_paths_and_wrong_methods_are_problems(server: Client) -> None:
    for path in ("/nowhere", "/healthz/", "/%00", "/%ff%fe", "/..%2f..%2fetc", "/" + "x" * 5000, "//", "/api"):
        answer = await server.get(path)
        assert (answer.status, answer.code) == (404, "no_such_path")
    for method in ("POST", "DELETE", "OPTIONS", "TRACE"):
        answer = await server.ask(method, "/healthz")
        assert (answer.status, answer.code, answer.headers["allow"]) == (405, "wrong_method", "GET, HEAD")


def test_every_error_has_a_status_and_an_unambiguous_code() -> None:
    assert STATUS.keys() == set(Kind)
    assert all(title.endswith(".") for _, title in REFUSALS.values())


async def test_metrics_sum_all_but_the_largest_queues(app: App) -> None:
    @app.task
    async def work() -> None: ...

    for queue, number in (("large", 4), ("middle", 3), ("*", 5), *((f"small{n}", 1) for n in range(20))):
        await app.enqueue_many([work.call().set(queue=queue) for _ in range(number)])
    for most, shown in ((2, {"large": 4, "middle": 3, "*": 25}), (1_000, None), (0, {"*": 32})):
        app.settings = app.settings.model_copy(update={"metrics_queues": most})
        async with serving(app) as client:
            text = (await client.get("/metrics")).body.decode()
        found = re.findall(r'^hanbeon_jobs\{queue="(.*)",state="ready"\} (\d+)', text, re.M)
        numbers = {queue: int(number) for queue, number in found}
        assert len(found) == len(numbers)
        assert sum(numbers.values()) == 32
        assert numbers == shown if shown else len(numbers) == 23
        assert len(re.findall("^hanbeon_oldest_ready_seconds", text, re.M)) == len(numbers)
