"""The setting `public_url`: the address that notifications and commands link to."""

from __future__ import annotations

import pytest

from hanbeon import App
from hanbeon.errors import InvalidInput
from hanbeon.settings import load_settings
from hanbeon.testing import TestKit
from tests.cli.hanbeon import call
from tests.outbound.mail import smtp_server
from tests.outbound.web import Web, reply


@pytest.mark.parametrize(
    "url",
    ["jobs.example.org", "ftp://x.org", "https://", "https://ada:x@y.org", "https://x.org/?a=b", "https://x.org/#/"],
)
def test_public_url_rejects_what_is_no_address(url: str) -> None:
    with pytest.raises(InvalidInput, match="public_url"):
        load_settings(public_url=url)


def test_page_url_encodes_its_parts() -> None:
    settings = load_settings(public_url="https://example.org/jobs/")
    assert settings.page_url("jobs", "a/b c") == "https://example.org/jobs/#/jobs/a%2Fb%20c"
    assert load_settings().page_url("jobs", "1") is None


async def test_notice_of_a_workflow_links_to_the_run(sqlite_url: str) -> None:
    app = App(outbound_allow_private=True, public_url="https://example.org")
    async with TestKit(app, sqlite_url) as kit, Web(reply(400)) as web, smtp_server() as mailbox:
        made = await app.workflows.create(
            name="Report",
            steps=[{"type": "http", "url": web.url}],
            schedule_config={"mode": "immediate"},
            notifications=[mailbox.target()],
            status="active",
        )
        await kit.run_all()
        (run,) = (await app.workflows.runs(made)).items
        (mail,) = mailbox.messages
        assert f"https://example.org/#/workflows/{made.id}/{run.run_id}" in mail.get_content()


async def test_command_shows_the_page_of_a_job(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with App(sqlite_url) as app:
        app.task(name="greet")(_greet)
        job = await app.enqueue("greet")
    assert "/#/jobs/" not in (await call("job", job.id, "--database", sqlite_url)).out
    monkeypatch.setenv("HANBEON_PUBLIC_URL", "https://example.org")
    assert f"https://example.org/#/jobs/{job.id}" in (await call("job", job.id, "--database", sqlite_url)).out


async def _greet() -> str:
    return "hello"
