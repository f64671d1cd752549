"""`hanbeon deadletter` and its routes: what could not be used is listed, shown, put back and dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hanbeon import App
from tests.cli.hanbeon import call
from tests.databases.valkey import ValkeyServer
from tests.engine.stream.kit import connected
from tests.server.client import serving
from tests.storm.moments import until
from tests.surfaces.exports.export_kit import exported, uploaded


async def test_operators_handle_dead_letters_of_exports(
    sqlite_url: str, valkey: ValkeyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HANBEON_DATABASE_URL", sqlite_url)
    monkeypatch.setenv("HANBEON_REDIS_URL", valkey.url)
    async with App() as app, serving(app, work=True) as client, connected(valkey.url) as redis:
        job = await exported(client, await uploaded(client))

        async def letters(count: int) -> list[Any] | None:
            found: list[Any] = (await client.get("/api/engine/deadletters")).json["items"]
            return found if len(found) == count else None

        await until("its request", lambda: _sent(redis))
        for n in range(3):
            await redis.xadd("job.results", {"jobId": job, "status": "DONE", "errorMessage": f"한번 {n}"})
        first, second, third = await until("its letters", lambda: letters(3))
        listed = (await call("deadletter", "list", "--json")).document
        assert [each["id"] for each in listed["items"]] == [first["id"], second["id"], third["id"]]
        shown = await call("deadletter", "show", first["id"])
        assert "reason: status must be one of SUCCEEDED, FAILED, CANCELLED, got 'DONE'" in shown.lines
        assert "  errorMessage: 한번 2" in shown.lines
        assert (await call("deadletter", "drop", first["id"])).lines == [f"dead letter {first['id']} is deleted"]
        again = await call("deadletter", "show", first["id"])
        assert (again.code, again.err[:32]) == (3, f"error: there is no dead letter '{first['id']}'"[:32])
        # What is put back comes again, and is no better than before.
        said = await call("deadletter", "republish", second["id"])
        assert said.lines == [f"dead letter {second['id']} is in its stream again"]
        found = await until("it again", lambda: letters(2))
        assert {each["payload"]["errorMessage"] for each in found} == {"한번 0", "한번 1"}
        path = f"/api/engine/deadletters/{third['id']}"
        assert (await client.get(path)).json["payload"] == {
            "jobId": str(job),
            "status": "DONE",
            "errorMessage": "한번 0",
        }
        assert (await client.post(f"{path}/republish")).status == 200
        found = await until("that again", lambda: letters(2))
        for each in found:
            assert (await client.ask("DELETE", f"/api/engine/deadletters/{each['id']}")).status == 200
        assert await letters(0) == []
        assert (await client.ask("DELETE", path)).status == (await client.post(f"{path}/republish")).status == 404


async def _sent(redis: Any) -> bool | None:
    return bool(await redis.xlen("job.requests")) or None
