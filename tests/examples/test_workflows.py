"""The example of workflows: its files are valid, the welcome mail is sent, and the others are declared."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hanbeon import App
from tests.cli.hanbeon import call
from tests.outbound.mail import smtp_server

EXAMPLES = Path(__file__).parents[2] / "examples"


async def test_example_sends_and_declares(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(EXAMPLES / "workflows", tmp_path / "workflows")
    folder = tmp_path / "workflows"
    config = folder / "hanbeon.toml"
    config.write_text(config.read_text() + "\n[outbound]\nallow_private = true\n")
    where = ("--database", sqlite_url, "--config", str(config))
    async with smtp_server() as mailbox:
        monkeypatch.setenv("MAIL_TARGET", mailbox.target())
        (made,) = (await call("workflow", "create", str(folder / "welcome.json"), *where)).lines
        assert (await call("workflow", "run", made, "name=하늘", *where)).code == 0
        assert [mail["Subject"] for mail in mailbox.messages] == ["하늘님, 환영합니다"]
    async with App.from_file(config, database_url=sqlite_url) as app:
        await app.worker().register()
        found = {each.name: each for each in (await app.workflows.list(status="active")).items}
    assert found.keys() == {"Weekly report", "D-day reminder"}
    assert str(found["D-day reminder"].next_run_at) == "2030-12-25T09:00:00.000+09:00"
