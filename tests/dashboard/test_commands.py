"""Each action of the dashboard can be copied: as a request, and as a command line that the program accepts."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect
from typer.main import get_command

from hanbeon import App
from hanbeon.cli.program import program
from hanbeon.service.tokens import create_token
from tests.cli.hanbeon import EXAMPLES
from tests.dashboard.pages import PATIENT_MS, opened
from tests.docs.markdown import ROOT
from tests.server.client import serving
from tests.surfaces.chains.chain_kit import LIBRARY

expect.set_options(timeout=PATIENT_MS)
_FOLDER = ROOT / "dashboard/src"
_SOURCES = {str(path.relative_to(_FOLDER).with_suffix("")): path.read_text() for path in sorted(_FOLDER.rglob("*.ts*"))}
_IMPORT = re.compile(r'from "(\.[\w./]+)"')
_REQUEST = r'\(([`"])((?:POST|PUT|PATCH|DELETE) .*?)\1'
_SENT, _COPIED = re.compile(rf"\bcall{_REQUEST}"), re.compile(rf"\bcurl{_REQUEST}")
_INSERTED = re.compile(r"\$\{.*?\}")
# Logging in and out is done by a browser alone, and a preview changes nothing.
_NOT_COPIED = {"POST /api/session", "DELETE /api/session", "POST /api/schedules/preview"}
_DAILY = {"mode": "recurring", "recurrence": {"frequency": "daily", "time": "09:00"}}
_COMMANDS = "(all) => all.map((each) => [each.getAttribute('aria-label'), each.title])"


def _requests(kind: re.Pattern[str], name: str) -> set[str]:
    return {template for _, template in kind.findall(_SOURCES[name])}


def _same(one: str, other: str) -> bool:
    """True if the requests are alike, with any word in place of what the page inserts."""
    pattern = "[a-z]+".join(re.escape(piece) for piece in _INSERTED.split(one))
    return re.fullmatch(pattern, _INSERTED.sub("x", other)) is not None


def _near(name: str) -> set[str]:
    """A module, those that it imports, and those that import it."""
    return {name} | _imports(name) | {other for other in _SOURCES if name in _imports(other)}


def _imports(name: str) -> set[str]:
    folder = PurePosixPath(name).parent
    return _SOURCES.keys() & {os.path.normpath(folder / each) for each in _IMPORT.findall(_SOURCES[name])}


@pytest.mark.parametrize("name", [name for name, text in _SOURCES.items() if _SENT.search(text)])
def test_each_action_is_copied_where_it_is_sent(name: str) -> None:
    copied = {each for module in _near(name) for each in _requests(_COPIED, module)}
    missing = {
        sent
        for sent in _requests(_SENT, name) - _NOT_COPIED
        if not any(_same(sent, each) or _same(each, sent) for each in copied)
    }
    assert missing == set()


def _app(url: str, folder: Path) -> App:
    paths: dict[str, Any] = {"jobs_export_path": str(folder / "exports"), "replay_path": str(folder / "replays")}
    app = App(url, shutdown_grace=0.2, chain_libraries=LIBRARY, **paths)

    @app.task(name="linger", retries=0)
    async def linger(day: str = "") -> None:
        await asyncio.Event().wait()

    return app


async def _commands(page: Page, url: str, place: str) -> dict[str, str]:
    """The commands of a page, by the names of their buttons."""
    await page.goto(f"{url}/#/{place}")
    await expect(page.locator("main .copies").first).to_be_attached()
    await expect(page.locator("main .skeleton")).to_have_count(0)
    return dict(await page.locator("main .copies .menu button").evaluate_all(_COMMANDS))


def _check_line(line: str) -> None:
    """Parse a command line as the program would, without running it."""
    words = shlex.split(line.rpartition("| ")[2])
    assert words.pop(0) == "hanbeon", line
    command: Any = get_command(program)
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    command.make_context("hanbeon", words)


@pytest.mark.asyncio(loop_scope="session")
async def test_rows_have_commands_that_are_valid(browser: Browser, sqlite_url: str, tmp_path: Path) -> None:
    async with _app(sqlite_url, tmp_path) as app, serving(app, work=True) as server:
        job = await app.enqueue("linger", {"day": "it's monday"})
        schedule = await app.schedules.create("linger", cron="0 9 * * *", name="the day's report")
        execution = await app.schedules.run("linger")
        step = {"type": "message", "name": "tell", "target": "json://127.0.0.1:9/", "body": "{{ who }}"}
        workflow = await app.workflows.create(
            name="greet", steps=[step], schedule_config=_DAILY, variables={"who": "Ada's"}
        )
        office = await app.offices.create(name="Seoul", sessions={"default": "linger"})
        await app.offices.create_jobs(office.id, jobs=[{"key": "plan"}])
        await app.chains.create(queue_library=LIBRARY, jobs=[{"forward_operation": "do"}])
        await app.pause("exports")
        await app.exports.export_mp4(await app.replays.upload(EXAMPLES / "replay.jsonl"))
        page, complaints = await opened(browser, server.url)
        await expect(page.locator("main").get_by_role("button", name="Cancel linger").first).to_be_visible()
        places = (
            *("", "jobs?state=running&queue=default", f"jobs/{job.id}", "queues", "instances"),
            *("schedules", f"schedules/{schedule.id}"),
            *("workflows", f"workflows/{workflow.id}", "workflows/new", f"workflows/{workflow.id}/edit"),
            *(f"offices/{office.id}?view=jobs", f"offices/{office.id}?view=config", "chains/1", "exports"),
        )
        found = {place: await _commands(page, server.url, place) for place in places}
        for name, text in [each for commands in found.values() for each in commands.items()]:
            if name.endswith(": curl"):
                assert text.startswith("curl -")
            else:
                _check_line(text)
        short = f"{job.id[:8]}…{job.id[-4:]}"
        assert found[""][f"Cancel linger {short}: hanbeon"] == f"hanbeon cancel {job.id}"
        assert f"/api/engine/jobs/{job.id}/cancel" in found[""][f"Cancel linger {short}: curl"]
        rows = found["schedules"]
        assert rows["Run now the day's report: hanbeon"] == "hanbeon run linger"
        assert rows["Pause the day's report: hanbeon"] == f"hanbeon schedule pause {schedule.id}"
        assert f"/api/schedules/{schedule.id}/pause" in rows["Pause the day's report: curl"]
        executions = found[f"schedules/{schedule.id}"]
        assert f"hanbeon cancel {execution.execution_id}" in executions.values()
        rows = found["workflows"]
        assert rows["Run now greet: hanbeon"] == f"hanbeon workflow run {workflow.id}"
        assert rows["Activate greet: hanbeon"] == f"hanbeon workflow activate {workflow.id}"
        trial = found[f"workflows/{workflow.id}"]["Dry run: hanbeon"]
        assert shlex.split(trial)[3:] == [workflow.id, '{"who":"Ada\'s"}']
        assert found["jobs?state=running&queue=default"]["Cancel all that match: hanbeon"] == (
            "hanbeon cancel --state running --queue default"
        )
        assert complaints == []


@pytest.mark.asyncio(loop_scope="session")
async def test_revoking_a_token_is_copied(browser: Browser, sqlite_url: str) -> None:
    async with App(sqlite_url) as app, serving(app) as server:
        token = await create_token(app.store, "ada", "admin")
        options = {"permissions": ["clipboard-read", "clipboard-write"]}
        page, complaints = await opened(browser, f"{server.url}/#/settings", **options)
        await page.get_by_label("Token").fill(token.text)
        await page.get_by_role("button", name="Log in").click()
        await page.locator("tbody .copies summary").first.click()
        await page.get_by_role("button", name="Revoke ada 1: hanbeon").click()
        assert await page.evaluate("navigator.clipboard.readText()") == "hanbeon token revoke 1"
        assert complaints == []


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("width", [1280, 390])
async def test_menus_stay_beside_the_list_of_pages(
    browser: Browser, sqlite_url: str, tmp_path: Path, width: int
) -> None:
    async with _app(sqlite_url, tmp_path) as app, serving(app) as server:
        job = await app.enqueue("linger")
        await app.workflows.create(name="w", steps=[{"type": "wait", "seconds": 1}], schedule_config=_DAILY)
        page, complaints = await opened(browser, server.url, viewport={"width": width, "height": 844})
        for place, menus in (("workflows", "tbody .copies"), (f"jobs/{job.id}", ".again .copies")):
            await page.goto(f"{server.url}/#/{place}")
            if "again" in menus:
                await page.get_by_role("button", name="Run again with other arguments").click()
            await page.locator(f"main {menus} summary").click()
            menu = page.locator(f"main {menus} .menu")
            await expect(menu).to_be_in_viewport(ratio=1)
            left = await menu.evaluate("(menu) => menu.getBoundingClientRect().x")
            pages = await page.locator("nav").evaluate("(nav) => nav.getBoundingClientRect()")
            assert left >= (pages["right"] if pages["height"] > pages["width"] else 0), place
            assert await page.evaluate("document.documentElement.scrollWidth") == width
        assert complaints == []
