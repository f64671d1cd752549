"""A surface gets its routes, description, scopes, idempotency, Python API, client, tables, commands, settings, metrics
and audit from its declaration alone.

`docs/adding-a-surface.md` walks through the surface of this test.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App, SyncApp, errors
from hanbeon.client import AsyncClient
from hanbeon.clock import SystemClock
from hanbeon.config.file import load
from hanbeon.errors import InvalidInput
from hanbeon.server import auth
from hanbeon.service.tokens import create_token
from hanbeon.settings import Settings, misspelt_names
from hanbeon.store.backends import open_store
from hanbeon.store.operations.prune import count_prunable
from hanbeon.surfaces import registry
from tests.server.client import Client, serving
from tests.surfaces.reminders.store_part import TEXTS
from tests.surfaces.reminders.surface import WITHOUT_TABLE


@pytest.fixture(autouse=True)
def with_reminders(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line that a surface needs outside of its folder."""
    monkeypatch.setattr(registry, "SURFACES", (*registry.SURFACES, WITHOUT_TABLE))


@pytest.fixture
async def reminders(app: App, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Client]:
    monkeypatch.setattr(App, "surfaces", (*App.surfaces, WITHOUT_TABLE))
    async with serving(app) as client:
        yield client


async def test_routes_call_the_service(app: App, reminders: Client) -> None:
    made = await reminders.post("/api/reminders", {"text": "물 마시기", "delay": 60})
    assert made.status == 201
    assert made.headers["location"] == f"/api/reminders/{made.json['id']}"
    assert (await reminders.get(made.headers["location"])).json == made.json
    listed = (await reminders.get("/api/reminders?limit=1")).json
    assert listed == {"items": [made.json], "next_cursor": None}
    surface: Any = app
    assert (await surface.reminders.get(made.json["id"])).text == "물 마시기"
    assert (await app.job(made.json["id"]).record()).queue == "reminders"


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({}, "text", "is required; it must be a string of 1 to 200 characters without NUL"),
        ({"text": "a", "delay": -1}, "delay", "must be an integer from 0 to 86400, got -1"),
        ({"text": "a", "dealy": 1}, "dealy", "unknown field; did you mean 'delay'?"),
    ],
)
async def test_requests_are_validated(app: App, reminders: Client, body: Any, field: str, message: str) -> None:
    answer = await reminders.post("/api/reminders", body)
    assert (answer.status, answer.code, answer.json["field"]) == (422, "invalid", field)
    assert message in answer.json["detail"]
    assert await app.jobs() == []


async def test_error_comes_with_the_declaration(reminders: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = await reminders.get("/api/reminders/01a1f008-4b49-719e-9eba-86440dfab4fb")
    assert (unknown.status, unknown.code) == (404, "reminder_not_found")
    assert unknown.json["detail"] == "there is no reminder '01a1f008-4b49-719e-9eba-86440dfab4fb'"
    assert unknown.json["rule"] == {"code": "reminder_not_found", "id": "'01a1f008-4b49-719e-9eba-86440dfab4fb'"}
    assert errors.ReminderNotFound in errors.all_errors()  # type: ignore[attr-defined]
    monkeypatch.undo()
    assert not hasattr(errors, "ReminderNotFound")


def _delay(**given: Any) -> Any:
    settings: Any = App(**given).settings
    return settings.reminder_delay


def test_setting_comes_with_the_declaration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert _delay() == 0
    assert _delay(reminder_delay="60") == 60
    file = Path("hanbeon.toml")
    file.write_text('[settings]\nreminder_delay = "10m"\n')
    assert load(file).settings == {"reminder_delay": 600.0}
    file.write_text("[settings]\nreminder_delay = -1\n")
    with pytest.raises(InvalidInput, match=r"settings.reminder_delay: must be a number from 0 to 86400, got -1"):
        load(file)
    monkeypatch.setenv("HANBEON_REMINDER_DELEY", "5")
    assert misspelt_names() == {"HANBEON_REMINDER_DELEY": "HANBEON_REMINDER_DELAY"}
    monkeypatch.setenv("HANBEON_REMINDER_DELAY", "soon")
    with pytest.raises(InvalidInput, match=r"reminder_delay: .* got 'soon' .HANBEON_REMINDER_DELAY"):
        App()
    monkeypatch.setenv("HANBEON_REMINDER_DELAY", "5")
    assert _delay() == 5
    assert pickle.loads(pickle.dumps(App().settings)) == App().settings
    assert [*Settings.model_fields][-1] == "reminder_delay"
    monkeypatch.setattr(registry, "SURFACES", App.surfaces)
    assert "reminder_delay" not in Settings.model_fields
    with pytest.raises(InvalidInput, match=r"an App has no such option"):
        App(reminder_delay=1)  # type: ignore[call-arg]


async def test_setting_is_in_force_and_shown(app: App, reminders: Client) -> None:
    app.settings = app.settings.model_copy(update={"reminder_delay": 3_600.0})
    made = (await reminders.post("/api/reminders", {"text": "later"})).json
    record = await app.job(made["id"]).record()
    assert record.run_at - record.created_at >= 3_600 * 1_000_000
    (shown,) = [each for each in (await app.engine.settings()).items if each.name == "reminder_delay"]
    assert (shown.value, shown.default) == (3_600.0, 0.0)


def test_surfaces_cannot_declare_the_setting_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    twin = WITHOUT_TABLE._replace(name="twin")
    monkeypatch.setattr(registry, "SURFACES", (*registry.SURFACES, twin))
    with pytest.raises(ValueError, match="settings of another surface, too: reminder_delay"):
        Settings()


async def test_repeated_request_is_answered_once(app: App, reminders: Client) -> None:
    answers = [await reminders.post("/api/reminders", {"text": "once"}, Idempotency_Key="key") for _ in range(2)]
    assert answers[0].body == answers[1].body
    assert answers[1].headers["idempotent-replayed"] == "true"
    assert len(await app.jobs()) == 1


async def test_scopes_are_those_of_the_operations(app: App, reminders: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "_KNOWN_FOR_SECONDS", -1.0)
    reader = reminders.of((await create_token(app.store, "ada", "read")).text)
    assert (await reader.get("/api/reminders")).status == 200
    assert (await reader.post("/api/reminders", {"text": "a"})).status == 403
    assert (await reminders.get("/api/reminders")).status == 401


async def test_openapi_describes_the_operations(reminders: Client) -> None:
    description = (await reminders.get("/openapi.json")).json
    created = description["paths"]["/api/reminders"]["post"]
    assert created["x-scopes"] == ["admin", "user"]
    assert {each["name"] for each in created["parameters"]} == {"Idempotency-Key"}
    delay = description["components"]["schemas"]["NewReminder"]["properties"]["delay"]
    assert delay == {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 86_400}, {"type": "null"}]}


def test_sync_app_has_the_service(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(App, "surfaces", (*App.surfaces, WITHOUT_TABLE))
    jobs: Any = SyncApp(App(sqlite_url))
    with jobs:
        made = jobs.reminders.create(text="soon")
        assert jobs.reminders.get(made.id) == made


async def test_client_has_the_operations(reminders: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AsyncClient, "surfaces", (*AsyncClient.surfaces, WITHOUT_TABLE))
    client: Any = AsyncClient(reminders.url)
    async with client:
        made = await client.reminders.create("soon", delay=60)
        assert await client.reminder(made.id).get() == made
        assert [each async for each in client.reminders.list(limit=1)] == [made]


async def test_retention_covers_its_rows(app_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(App, "surfaces", (*App.surfaces, WITHOUT_TABLE))
    async with App(app_url) as app:
        TEXTS[:] = ["one", "two", "three"]
        assert (await app.store.read(lambda tx: count_prunable(tx, app.store.retention, 0)))["reminder_texts"] == 3
        assert await app.store.prune(0, 2) == 2
        assert TEXTS == ["three"]
        async with serving(app) as client:
            assert 'hanbeon_pruned_rows_total{kind="reminder_texts"} 2' in (await client.get("/metrics")).body.decode()
        await app.store.prune(0, 2)
        assert (await app.store.read(lambda tx: count_prunable(tx, app.store.retention, 0)))["reminder_texts"] == 0


async def test_store_without_surfaces_prunes_nothing(app_url: str) -> None:
    """Rows of surfaces would stay behind for ever, beside jobs that are gone."""
    store = open_store(app_url, SystemClock())
    await store.open()
    try:
        with pytest.raises(AssertionError, match="would stay behind"):
            await store.prune(0, 10)
    finally:
        await store.close()


def _hanbeon(*words: str, database_url: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.surfaces.reminders.program", *words]
    environment = {**os.environ, "HANBEON_DATABASE_URL": database_url}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


def test_tables_command_and_audit_come_with_the_declaration(empty_database_url: str) -> None:
    hanbeon = partial(_hanbeon, database_url=empty_database_url)
    assert "Reminders:\n  remember" in hanbeon("--help").stdout
    assert "reminder_delay" in hanbeon("config", "show").stdout
    assert hanbeon("migrate").returncode == 0
    assert hanbeon("remember", "물 마시기").stdout == "text 1\n"
    assert ", 1 reminder texts" in hanbeon("verify").stdout
    assert hanbeon("remember", "").stdout == "text 2\n"
    audited = hanbeon("verify")
    assert audited.returncode == 1
    assert "error empty_reminder_text (1): a text that is kept has no characters" in audited.stdout


def test_metrics_come_with_the_declaration(empty_sqlite_url: str) -> None:
    """In a process of its own: the tables would be those of all databases of this one."""
    assert _hanbeon("remember", "tea", database_url=empty_sqlite_url).stdout == "text 1\n"
    ran = subprocess.run(
        [sys.executable, "-m", "tests.surfaces.reminders.scrape", empty_sqlite_url],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "hanbeon_reminder_texts 1.0" in ran.stdout, ran.stderr


def test_doctorings_come_with_the_declaration() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.surfaces.reminders.doctorings"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.stdout == "1 doctorings, missed: none\n", ran.stderr
