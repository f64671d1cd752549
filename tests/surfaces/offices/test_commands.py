"""`hanbeon office`: offices in the database, in the shapes of the API."""

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hanbeon import App
from hanbeon.surfaces.offices.service import Offices
from tests.cli.hanbeon import Answer, call, start
from tests.outbound.web import Web, reply

_FILE = """
[tasks.build]
command = ["true"]

[tasks.test]
command = ["true"]
"""


class Office:
    """Commands on one database, with the tasks of a file."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        (folder / "hanbeon.toml").write_text(_FILE)
        self._where = ("--database", url, "--config", str(folder / "hanbeon.toml"))

    async def run(self, *words: str) -> Answer:
        return await call("office", *words, *self._where)

    async def read(self, *words: str) -> Any:
        return (await self.run(*words, "--json")).document

    async def add(self, *jobs: dict[str, Any], name: str = "Seoul") -> list[dict[str, Any]]:
        path = self.folder / "batch.json"
        path.write_text(json.dumps({"jobs": jobs}))
        made: list[dict[str, Any]] = (await self.read("add", name, str(path)))["jobs"]
        return made


@pytest.fixture
async def office(database_url: str, tmp_path: Path) -> Office:
    await App(database_url).migrate()
    return Office(database_url, tmp_path)


async def test_offices_are_made_shown_and_listed_as_over_http(office: Office) -> None:
    (made,) = (
        await office.run(
            "create", "Seoul", "--session", "default=build", "--session", "QA=test", "--set", "maxRetries=5"
        )
    ).lines
    shown = await office.read("show", "Seoul")
    assert (shown["id"], shown["sessions"]) == (made, {"default": "build", "QA": "test"})
    assert (shown["config"]["maxRetries"], shown["config"]["maxConcurrentJobs"]) == (5, 3)
    async with App(office.url) as app:
        assert shown == json.loads(json.dumps(await _as_http(app, made)))
    busan = await office.read("create", "Busan", "--notify", "mailto://ada@example.org")
    assert [each["name"] for each in (await office.read("list"))["items"]] == ["Seoul", "Busan"]
    first = await office.read("list", "--limit", "1")
    assert [each["id"] for each in (await office.read("list", "--cursor", first["next_cursor"]))["items"]] == [
        busan["id"]
    ]
    table = await office.run("list", "--limit", "1")
    assert "Seoul" in table.out
    assert f"--cursor {first['next_cursor']}" in table.err
    assert "default=build, QA=test" in (await office.run("show", made)).out


async def _as_http(app: App, office_id: str) -> Any:
    return msgspec.to_builtins(await Offices(app).get(office_id))


async def test_sessions_are_changed_and_jobs_that_wait_get_theirs(office: Office) -> None:
    await office.run("create", "Seoul", "--session", "QA=test")
    (job,) = await office.add({"role": "FE"})
    async with App(office.url) as app:
        assert (await app.job(job["id"]).record()).task != "build"
        changed = await office.read(
            "change", "Seoul", "--session", "default=build", "--session", "QA=", "--name", "Busan"
        )
        assert (changed["name"], changed["sessions"]) == ("Busan", {"default": "build"})
        assert (await app.job(job["id"]).record()).task == "build"
    assert (await office.run("change", "Busan")).code == 2
    assert (await office.run("change", "Busan", "--session", "default=nobody")).code == 2


async def test_config_set_merges_settings(office: Office) -> None:
    await office.run("create", "Seoul")
    changed = await office.read(
        *("config", "set", "Seoul", "maxConcurrentJobs=7", "retryBackoff=linear"),
        *("maxConcurrentByRole.FE=null", "maxConcurrentByRole.BE=4"),
    )
    assert (changed["maxConcurrentJobs"], changed["retryBackoff"]) == (7, "linear")
    assert changed["maxConcurrentByRole"] == {"BE": 4, "QA": 1, "DevOps": 1}
    assert await office.read("config", "show", "Seoul") == changed
    assert "maxConcurrentByRole" in (await office.run("config", "show", "Seoul")).out
    for words, field in (
        (("maxConcurrentJobs=0",), "maxConcurrentJobs"),
        (("maxConcurrentJob=1",), "maxConcurrentJobs"),
        (("maxRetries",), "name=value"),
    ):
        refused = await office.run("config", "set", "Seoul", *words)
        assert refused.code == 2
        assert field in refused.err
    assert await office.read("config", "show", "Seoul") == changed


async def test_a_batch_of_jobs_is_added_listed_counted_and_cancelled(office: Office) -> None:
    await office.run("create", "Seoul", "--session", "default=build")
    api, page, check = await office.add(
        {"key": "api", "role": "BE", "task_id": "item"},
        {"key": "page", "role": "FE"},
        {"role": "QA", "depends_on": ["api", "page"], "title": "Try it out"},
    )
    assert (api["status"], check["status"]) == ("ready", "pending")
    assert check["depends_on"] == [api["id"], page["id"]]
    jobs = await office.read("jobs", "Seoul", "--status", "ready", "--status", "done")
    assert [each["id"] for each in jobs["items"]] == [api["id"], page["id"]]
    assert [each["id"] for each in (await office.read("jobs", "Seoul", "--task-id", "item"))["items"]] == [api["id"]]
    assert "Try it out" in (await office.run("jobs", "Seoul")).out
    stats = await office.read("stats", "Seoul")
    assert (stats["ready"], stats["pending"]) == (2, 1)
    assert (await office.read("process", "Seoul"))["started"] == 0
    assert (await office.run("cancel-all", "Seoul")).code == 2  # stdin is not a terminal.
    cancelled = await office.read("cancel-all", "Seoul", "--role", "BE", "--yes")
    assert cancelled == {"cancelled": [api["id"]]}
    assert (await office.run("cancel-all", "Seoul", "--status", "done", "--yes")).code == 2
    assert (await office.run("cancel-all", "Seoul", "--yes")).lines == ["cancelled 2 jobs"]


async def test_simulation_names_the_slot_to_add(office: Office) -> None:
    await office.run("create", "Seoul", "--session", "default=build")
    await office.add({"key": "page", "role": "FE"}, {"key": "menu", "role": "FE", "title": "The menu"})
    shown = (await office.run("simulate", "Seoul")).out
    for part in ("2m00s", "maxConcurrentByRole.FE=2 takes 1m00s", "The menu"):
        assert part in shown
    tried = await office.read("simulate", "Seoul", "--set", "maxConcurrentByRole.FE=2", "--assume", "5")
    assert (tried["makespan_ms"], tried["assumed"], tried["add_slot"]) == (5_000, 2, None)
    refused = await office.run("simulate", "Seoul", "--set", "maxRetries=1")
    assert refused.code == 2
    assert "maxRetries" in refused.err


async def test_a_batch_comes_from_stdin_too_as_a_list(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    await office.run("create", "Seoul")
    monkeypatch.setattr("sys.stdin", io.StringIO('[{"title": "one"}, {"title": "two"}]'))
    ids = (await office.run("add", "Seoul", "-")).lines
    assert [each["id"] for each in (await office.read("jobs", "Seoul"))["items"]] == ids


async def test_events_are_printed_and_followed(office: Office) -> None:
    await office.run("create", "Seoul")
    (job,) = await office.add({})
    (line,) = (await office.run("events", "Seoul", "--json")).lines
    event = json.loads(line)
    assert (event["type"], event["job_id"]) == ("job_ready", job["id"])
    assert (await office.run("events", "Seoul", "--json", "--after", str(event["id"]))).lines == []
    assert "job_ready" in (await office.run("events", "Seoul")).out
    with start("office", "events", "Seoul", "--follow", "--json", "--database", office.url) as following:
        assert following.stdout is not None
        assert json.loads(following.stdout.readline()) == event
        await office.run("cancel-all", "Seoul", "--yes")
        assert json.loads(following.stdout.readline())["type"] == "job_cancelled"
        following.kill()


async def test_an_office_is_deleted_only_when_asked_for(office: Office) -> None:
    (made,) = (await office.run("create", "Seoul")).lines
    await office.add({})
    assert (await office.run("delete", "Seoul")).code == 2
    assert (await office.run("delete", "Seoul", "--yes")).code == 4
    assert (await office.read("delete", "Seoul", "--cancel", "--yes")) == {"deleted": made}
    assert (await office.run("show", made)).code == 3


async def test_rejects_unknown_and_ambiguous_names(office: Office, tmp_path: Path) -> None:
    for name in ("Seoul", "Busan", "Busan"):
        await office.run("create", name)
    missing = await office.run("show", "Soul")
    assert (missing.code, "did you mean 'Seoul'" in missing.err) == (3, True)
    assert (await office.run("show", "Busan")).code == 4
    assert (await office.run("create", "Jeju", "--session", "default=biuld")).code == 2
    assert (await office.run("create", "Jeju", "--session", "build")).code == 2
    for text, code in (("{", 2), ('{"job": []}', 2), ('[{"handler": "nobody"}]', 2), ("[7]", 2)):
        (tmp_path / "bad.json").write_text(text)
        assert (await office.run("add", "Seoul", str(tmp_path / "bad.json"))).code == code, text
    assert (await office.run("add", "Seoul", str(tmp_path / "none.json"))).code == 3
    assert (await call("office", "list", "--database", f"sqlite:///{tmp_path}/none.db")).code == 3
    assert (await office.read("jobs", "Seoul"))["items"] == []


async def test_a_webhook_test_reports_its_outcome(office: Office) -> None:
    async with Web(reply(204)) as web, App(office.url, outbound_allow_private=True, shutdown_grace=0.2) as app:
        url = f"{web.url}/hook"
        hooks = [{"url": url, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}]
        await Offices(app).create(name="Seoul", webhooks=hooks)
        waits = await office.read("test-webhook", "Seoul", url)
        assert (waits["type"], waits["status"]) == ("webhook_test", "waiting")
        async with app.worker():
            assert (await office.run("test-webhook", "Seoul", url, "--wait")).lines == [f"{url} accepted the message"]
            web.answer = lambda seen: reply(503)
            failed = await office.run("test-webhook", "Seoul", url, "--wait", "--json")
            assert (failed.code, json.loads(failed.out)["status"]) == (1, "failed")
            assert "503" in failed.err
        missing = await office.run("test-webhook", "Seoul", "https://example.org")
        assert missing.code == 3
        assert "has no webhook" in missing.err
