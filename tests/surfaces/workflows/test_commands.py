"""`hanbeon workflow`: workflows in the database, and a run in the process of the command."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.hanbeon import Answer, call
from tests.outbound.mail import smtp_server

STEPS = [{"type": "message", "name": "인사", "title": "환영", "body": "{{ name }}님, 환영합니다"}]


async def test_workflow_is_created_run_and_shown(sqlite_url: str, tmp_path: Path) -> None:
    async with smtp_server() as mailbox:
        config = tmp_path / "hanbeon.toml"
        config.write_text(
            '[secrets]\nMAIL = { file = "' + str(tmp_path / "mail") + '" }\n[outbound]\nallow_private = true\n'
        )
        (tmp_path / "mail").write_text(mailbox.target())
        file = tmp_path / "welcome.json"
        steps = [STEPS[0] | {"target": "MAIL"}]
        times = {"mode": "recurring", "recurrence": {"frequency": "daily", "time": "09:00"}}
        file.write_text(
            json.dumps({"name": "환영", "steps": steps, "schedule_config": times, "variables": {"name": "손님"}})
        )

        async def run(*words: str) -> Answer:
            return await call("workflow", *words, "--database", sqlite_url, "--config", str(config))

        (made,) = (await run("create", str(file))).lines
        assert "환영합니다" in (await run("dry-run", made, "name=김")).out
        assert "환영합니다" in (await run("dry-run", "환영", "name=김")).out
        unknown = await run("run", "환영!")
        assert (unknown.code, unknown.err) == (3, "error: there is no workflow '환영!'; did you mean '환영'?\n")
        (twin,) = (await run("create", str(file))).lines
        ambiguous = await run("run", "환영")
        assert (ambiguous.code, ambiguous.err) == (
            4,
            f"error: 2 workflows are named '환영'; pass an id: {made}, {twin}\n",
        )
        assert (await run("delete", twin)).code == 0
        ran = await run("run", made, "name=하늘", "--json")
        assert (ran.code, ran.document["status"]) == (0, "completed"), ran
        assert "하늘님" in mailbox.messages[0].get_body(("plain", "html")).get_content()  # type: ignore[union-attr]
        assert (await run("activate", made, "--json")).document["next_run_at"].endswith("T09:00:00.000+09:00")
        assert (await run("cron")).document == {"created": 0, "updated": 0, "unchanged": 1, "removed": 0}
        assert (await run("execute")).document == {"executed": 0, "results": []}
        assert "09:00" in (await run("list", "--status", "active")).out
        listed = (await run("runs", made, "--json")).document["items"]
        assert [each["status"] for each in listed] == ["pending", "completed"]
        assert "인사" in (await run("history", made, listed[1]["run_id"])).out
        assert (await run("cancel", made, listed[0]["run_id"], "--json")).document["error_code"] == "CANCELLED"
        assert (await run("monitor", "--json")).document["completed"] == 1
        assert (await run("pause", "환영", "--json")).document["next_run_at"] is None
        assert (await run("delete", made)).code == 0
        assert (await run("show", made)).code != 0
        file.write_text("[]")
        assert "file: must be a JSON object" in (await run("create", str(file))).err
