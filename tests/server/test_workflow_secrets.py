"""Secrets of workflows over HTTP: who may use them, and who sees what came back."""

from __future__ import annotations

import base64

import pytest

from hanbeon import App
from hanbeon.outbound.secrets import SecretSource
from hanbeon.service.tokens import create_token
from hanbeon.testing import TestKit
from tests.outbound.web import Web, json_reply, reply
from tests.server.client import serving

VALUE = "payroll-k3y-9f8e7d"
ENCODED = base64.b64encode(VALUE.encode()).decode()


async def test_user_cannot_read_secrets(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", VALUE)
    app = App(outbound_allow_private=True, workflow_budget=0.01)
    answers = [json_reply(f'{{"echo": "{ENCODED}"}}'), json_reply("{}"), json_reply("{}"), reply(404, ENCODED)]
    async with TestKit(app, database_url) as kit, Web(*answers) as web, serving(app) as server:
        scopes = ("admin", "user", "read")
        admin, user, read = [server.of((await create_token(app.store, "ada", each)).text) for each in scopes]
        keyed = {"type": "http", "url": web.url, "headers": {"X-Key": "{{ secrets.KEY }}"}, "on_error": "continue"}
        body = {
            "name": "w",
            "schedule_config": {"mode": "immediate"},
            "steps": [
                {**keyed, "name": "first"},
                {"type": "http", "name": "second", "url": web.url, "body": "{{ steps.first.body.echo }}"},
                {"type": "http", "name": "third", "url": web.url},
                {**keyed, "name": "fourth"},
            ],
        }
        app.secrets.declare({"KEY": SecretSource(env="TEST_KEY")})
        answer = await user.post("/api/workflows", body)
        assert (answer.status, answer.json["field"]) == (422, "steps[0].headers.X-Key"), answer.json
        made = await admin.post("/api/workflows", body)
        assert made.status == 201
        place = f"/api/workflows/{made.json['id']}"
        answer = await user.ask("PATCH", place, {"steps": body["steps"]})
        assert (answer.status, answer.json["field"]) == (422, "steps[0].headers.X-Key"), answer.json
        assert (await user.ask("PATCH", place, {"name": "other"})).status == 200

        run = (await user.post("/api/workflow/execute", {"workflow_id": made.json["id"]})).json["run_id"]
        await kit.run_all()
        assert web.seen[1].body.decode() == ENCODED
        for path in (f"{place}/runs", f"{place}/runs/{run}"):
            for client, sees in ((admin, True), (user, False), (read, False)):
                answer = await client.get(path)
                steps = answer.json.get("items", [answer.json])[0]["steps"]
                assert [each["output_secret"] for each in steps] == [True, True, False, True]
                assert [each["output"] is not None for each in steps] == [sees, sees, True, False]
                assert (ENCODED in str(answer.json)) == sees
                assert steps[3]["error_message"] == "it answered 404 Not Found"
