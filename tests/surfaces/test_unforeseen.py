"""Unforeseen exceptions in the handlers of every surface: a failed attempt with its error, never a lost one.

What a task's own body may raise is in `tests/executors`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hanbeon import App
from hanbeon.executors.http import conversation
from hanbeon.messages import Messenger
from hanbeon.outbound.client import OutboundClient
from hanbeon.outbound.sender_pool import SenderPool
from hanbeon.store.operations.queries import JobFilter, attempts_of, list_jobs
from hanbeon.surfaces.offices.delivery import executor as delivery
from hanbeon.surfaces.offices.delivery import webhook
from hanbeon.surfaces.offices.delivery.rules import TASK, ListenerKind
from hanbeon.surfaces.workflows import http_step, notice, run_body, steps
from hanbeon.surfaces.workflows.vocabulary import NOTICE_TASK
from hanbeon.testing import TestKit
from tests.outbound.web import Web, reply
from tests.surfaces.offices.office_kit import OfficeKit, add_tasks
from tests.surfaces.workflows.workflow_kit import WorkflowKit, message, statuses

TASKS = {
    "notice": NOTICE_TASK,
    "notification": TASK[ListenerKind.NOTIFICATION],
    "webhook": TASK[ListenerKind.WEBHOOK],
}


class Unforeseen(Exception):
    """Known to no handler."""


def throw(*args: Any, **options: Any) -> Any:
    raise Unforeseen("on purpose")


@pytest.fixture
async def kit(sqlite_url: str, caplog: pytest.LogCaptureFixture) -> AsyncIterator[TestKit]:
    caplog.set_level(logging.CRITICAL, "hanbeon")
    app = App(outbound_allow_private=True)
    add_tasks(app)
    app.http("hook", "http://127.0.0.1:9/", retries=0)
    app.stream("thumb", "thumbs", work=throw, retries=0)
    async with TestKit(app, sqlite_url) as kit:
        yield kit


def step(kind: str) -> dict[str, Any]:
    return {
        "message": message("json://127.0.0.1:9/"),
        "http": {"type": "http", "url": "http://127.0.0.1:9/"},
        "wait": {"type": "wait", "seconds": 0},
        "task": {"type": "task", "task_id": "work"},
    }[kind] | {"name": "it"}


# For good, since nothing was sent, or everything was done.
FOR_GOOD = ("rendered", "fill", "_output_text")
PLACES: list[tuple[str, Any, str]] = [
    ("message", steps, "rendered"),
    ("message", Messenger, "send"),
    ("message", SenderPool, "send"),
    ("http", http_step, "fill"),
    ("http", http_step, "_output"),
    ("http", OutboundClient, "send"),
    ("wait", steps, "iso"),
    ("task", steps, "find_tasks"),
    ("task", steps, "derived_id"),
    ("wait", run_body, "_output_text"),
]


@pytest.mark.parametrize(("kind", "place", "name"), PLACES, ids=[f"{kind}-{name}" for kind, _, name in PLACES])
async def test_step_fails_and_is_not_lost(
    kit: TestKit, monkeypatch: pytest.MonkeyPatch, kind: str, place: Any, name: str
) -> None:
    """As often as its `retries` say; the next step runs where `on_error` says so."""
    async with Web(*[reply(200)] * 4) as web:
        given = step(kind) | ({"url": web.url} if kind == "http" else {})
        workflows = WorkflowKit(kit)
        monkeypatch.setattr(place, name, throw)
        for retries, on_error in ((0, "stop"), (1, "continue")):
            run = await workflows.run(given | {"retries": retries, "on_error": on_error}, name=on_error)
            assert statuses(run) == [("it", "failed", 1 if name in FOR_GOOD else retries + 1)]
            assert (run.status, run.steps[0].unknown) == ("failed" if on_error == "stop" else "completed", 0)
            assert "Unforeseen: on purpose" in str(run.steps[0].error_message)
            assert all(each.status.value == "failed" for each in run.steps[0].deliveries)
    assert await workflows.findings() == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("서울", "header 'X-City' must be ASCII without line breaks"),
        ("a\r\nX-Evil: 1", "header 'X-City' must be ASCII without line breaks"),
    ],
)
async def test_header_that_cannot_be_sent_is_named(kit: TestKit, text: str, reason: str) -> None:
    async with Web(reply(200)) as web:
        run = await WorkflowKit(kit).run(
            {"type": "http", "url": web.url, "headers": {"X-City": "{{ city }}"}, "retries": 3},
            variables={"city": text},
        )
        assert web.seen == []
    assert (run.status, statuses(run)) == ("failed", [("step1", "failed", 1)])
    assert reason in str(run.steps[0].error_message)
    assert text not in str(run.steps[0].error_message)


DELIVERIES: list[tuple[str, Any, str]] = [
    ("notice", notice, "send_notice"),
    ("notice", Messenger, "send"),
    ("notification", delivery, "notify"),
    ("notification", Messenger, "send"),
    ("webhook", webhook, "deliver"),
    ("webhook", webhook, "_headers"),
    ("webhook", OutboundClient, "send"),
    ("hook", conversation, "converse"),
    ("hook", OutboundClient, "send"),
    ("thumb", None, ""),
]


@pytest.mark.parametrize(("kind", "place", "name"), DELIVERIES, ids=[f"{kind}-{name}" for kind, _, name in DELIVERIES])
async def test_delivery_fails_and_is_not_lost(
    kit: TestKit, monkeypatch: pytest.MonkeyPatch, kind: str, place: Any, name: str
) -> None:
    if place is not None:
        monkeypatch.setattr(place, name, throw)
    if kind == "notice":
        failing = {"type": "task", "task_id": "fail", "retries": 0}
        await WorkflowKit(kit).make(failing, status="active", notifications=["json://127.0.0.1:9/"])
    elif kind in ("hook", "thumb"):
        await kit.app.enqueue(kind)
    else:
        office = OfficeKit(kit, add_tasks(App()))
        await office.open(
            notifications=["json://127.0.0.1:9/"], webhooks=[{"url": "http://127.0.0.1:9/", "secret": "x" * 24}]
        )
        await office.one(handler="fail", max_retries=0)
    await kit.run_all()
    found = await kit.app.store.read(lambda tx: list_jobs(tx, JobFilter(task=TASKS.get(kind, kind))))
    assert found
    for job in found:
        attempts = await kit.app.store.read(lambda tx, job=job: attempts_of(tx, job.id))  # type: ignore[misc]
        assert attempts
        assert {(each.status.value, each.message) for each in attempts} == {("failed", "Unforeseen: on purpose")}
