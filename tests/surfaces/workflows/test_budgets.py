"""Bounds of sums: texts that are within their own bound, multiplied by a list."""

from __future__ import annotations

import msgspec
import pytest

from hanbeon.domain.bounds import PAGE_BYTES
from hanbeon.domain.templates import RENDERED_SUM_MOST
from tests.outbound.web import Web, reply
from tests.surfaces.workflows.workflow_kit import WorkflowKit, message, statuses

LONG = {"text": "가" * 200_000}


async def test_dry_run_ends_where_pages_end(sqlite_workflows: WorkflowKit) -> None:
    people = [{"name": f"손님{n}"} for n in range(400)]
    made = await sqlite_workflows.make(
        message("json://localhost", "{{ name }} {{ text }}", recipients=people), variables=LONG
    )
    found = await sqlite_workflows.workflows.dry_run(made)
    assert found.more
    assert [each.recipient for each in found.messages] == list(range(len(found.messages)))
    assert PAGE_BYTES // 2 < len(msgspec.json.encode(found)) <= PAGE_BYTES + 1_000
    few = await sqlite_workflows.workflows.dry_run(made, variables={"text": "가"})
    assert (len(few.messages), few.more) == (400, False)


@pytest.mark.parametrize("kind", ["http", "task"])
async def test_texts_of_a_step_share_a_budget(sqlite_workflows: WorkflowKit, kind: str) -> None:
    @sqlite_workflows.app.task
    async def work(texts: list[str]) -> None: ...

    texts = ["{{ text }}"] * 800
    async with Web(reply(200)) as web:
        step = (
            {"type": "http", "url": web.url, "body": texts} if kind == "http" else {"type": "task", "task_id": "work"}
        )
        args = {} if kind == "http" else {"args": {"texts": texts}}
        run = await sqlite_workflows.run({**step, **args}, variables=LONG)
        assert web.seen == []
    assert (run.status, statuses(run)) == ("failed", [("step1", "failed", 1)])
    assert f"must be at most {RENDERED_SUM_MOST:,} characters when rendered" in str(run.steps[0].error_message)
