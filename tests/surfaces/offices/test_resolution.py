"""Handler, timeout and retries of a job come from the job, its handler, its office or its role."""

import sys
from typing import Any

import pytest

from hanbeon import App
from hanbeon.domain.job import NO_HANDLER
from hanbeon.domain.retry import Backoff, OnLost
from hanbeon.errors import ArgumentsDoNotFit, InvalidInput, TaskDefinitionError, UnknownTask
from hanbeon.store.operations.instances import NewInstance, register
from hanbeon.surfaces.offices.resolve import Handlers, handling, session_of
from hanbeon.surfaces.offices.rows import OfficeRecord
from tests.surfaces.offices.office_kit import OfficeKit

MINUTE_US = 60_000_000


def _handling(
    config: dict[str, Any],
    options: dict[str, Any] | None,
    role: str = "",
    own: tuple[int | None, int | None] = (None, None),
) -> Any:
    app = App()

    async def handler() -> None: ...

    if options is not None:
        app.task(name="handler", **options)(handler)
    office = OfficeRecord(id="", name="", config=config)
    return handling(
        office, Handlers(app.tasks, {"handler"}), "handler", role, own_timeout_ms=own[0], own_retries=own[1]
    )


@pytest.mark.parametrize(
    ("config", "options", "role", "own", "minutes"),
    [
        ({}, None, "", None, 30),
        ({}, {}, "QA", None, 45),
        ({}, {}, "PO", None, 15),
        ({"defaultTimeout": 60_000}, {}, "QA", None, 1),
        ({"defaultTimeout": 60_000}, {"timeout": 120}, "QA", None, 2),
        ({"defaultTimeout": 60_000}, {"timeout": None}, "QA", None, 1),
        ({"defaultTimeout": 60_000}, {"timeout": 120}, "QA", 180_000, 3),
        ({}, {"timeout": "7m"}, "QA", None, 7),
        ({}, None, "QA", 60_000, 1),
    ],
)
def test_timeout_comes_from_job_handler_office_or_role(
    config: dict[str, Any], options: dict[str, Any] | None, role: str, own: int | None, minutes: int
) -> None:
    assert _handling(config, options, role, (own, None)).timeout_us == minutes * MINUTE_US


@pytest.mark.parametrize(
    ("config", "options", "own", "retries"),
    [
        ({}, None, None, 2),
        ({}, {}, None, 2),
        ({"maxRetries": 7}, {}, None, 7),
        # As many as a task has by default, but set explicitly.
        ({"maxRetries": 7}, {"retries": 3}, None, 3),
        ({"maxRetries": 7}, {"retries": 0}, None, 0),
        ({"maxRetries": 7}, {"retries": 3}, 0, 0),
        ({"maxRetries": 7}, None, 5, 5),
    ],
)
def test_the_retries_are_the_jobs_the_handlers_or_the_offices(
    config: dict[str, Any], options: dict[str, Any] | None, own: int | None, retries: int
) -> None:
    assert _handling(config, options, own=(None, own)).policy.max_retries == retries


def test_delays_are_the_offices_unless_the_handler_has_its_own() -> None:
    config = {"retryBackoff": "linear", "retryBaseDelay": 5_000}
    policy = _handling(config, {"on_lost": "fail", "jitter": 0.5}).policy
    assert (policy.backoff, policy.base_us) == (Backoff.LINEAR, 5_000_000)
    assert (policy.on_lost, policy.jitter) == (OnLost.FAIL, 0.5)
    policy = _handling(config, {"backoff": "exponential", "retry_delay": 1}).policy
    assert (policy.backoff, policy.base_us) == (Backoff.EXPONENTIAL, 1_000_000)


def test_a_role_without_a_session_has_the_default_one() -> None:
    sessions = {"FE": "build", "default": "work"}
    assert [session_of(sessions, role) for role in ("FE", "BE", "")] == ["build", "work", "work"]
    assert session_of({"FE": "build"}, "BE") is None


async def test_the_jobs_own_handler_wins_over_the_sessions(office: OfficeKit) -> None:
    await office.offices.change(office.id, sessions={"FE": "hold"})
    jobs = await office.make({"role": "FE"}, {"role": "FE", "handler": "fail"}, {"role": "BE"}, {})
    assert [(await office.record(job)).task for job in jobs] == ["hold", "fail", "work", "work"]


async def test_an_unknown_handler_refuses_the_batch(office: OfficeKit) -> None:
    refusal = await office.refused(UnknownTask, {}, {"handler": "wrok"})
    assert refusal.field == "jobs[1].handler"
    assert "did you mean 'work'" in str(refusal)
    refusal = await office.refused(UnknownTask, {"handler": NO_HANDLER})


async def test_a_task_that_only_another_live_instance_has_is_known(office: OfficeKit) -> None:
    store = office.kit.app.store
    await store.write(lambda tx: register(tx, NewInstance("elsewhere", "host", 1, "0", ["theirs"], 1)))
    job = await office.one(handler="theirs", args={"any": "thing"}, role="QA")
    record = await office.record(job)
    assert (record.task, record.args, job.timeout_ms) == ("theirs", '{"any":"thing"}', 45 * 60_000)
    await office.kit.clock.advance(office.kit.app.settings.lease + 1)
    await office.refused(UnknownTask, {"handler": "theirs"})


async def test_arguments_are_checked_where_the_handler_is_known(office: OfficeKit) -> None:
    refusal = await office.refused(ArgumentsDoNotFit, {"args": {"nam": "x"}})
    assert refusal.field == "jobs[0].args"
    refusal = await office.refused(ArgumentsDoNotFit, {"args": {"name": 5}})
    assert (await office.one(args={"name": "x"})).status == "ready"


async def test_a_role_that_the_handler_does_not_serve_is_refused(office: OfficeKit) -> None:
    @office.kit.app.task(roles=["FE"])
    async def frontend() -> None: ...

    await office.refused(InvalidInput, {"handler": "frontend", "role": "BE"})
    assert (await office.one(handler="frontend", role="FE")).status == "ready"
    with pytest.raises(InvalidInput, match="serves FE") as refusal:
        await office.offices.change(office.id, sessions={"BE": "frontend"})
    assert refusal.value.field == "sessions.BE"


async def test_a_job_without_a_handler_waits_and_says_so(office: OfficeKit) -> None:
    await office.open(sessions={})
    job = await office.one(role="FE")
    await office.kit.tick()
    explanation = await office.offices.explain(office.id, job.id)
    assert [reason["code"] for reason in explanation.reasons] == ["no_handler"]
    assert "FE" in explanation.reasons[0]["text"]
    assert await office.status(job) == ["ready"]


def test_no_task_may_have_the_name_that_stands_for_none() -> None:
    with pytest.raises(TaskDefinitionError, match="no task at all"):
        App().task(name=NO_HANDLER)(test_no_task_may_have_the_name_that_stands_for_none)


@pytest.mark.skipif(sys.platform != "linux", reason="commands are run on Linux only")
async def test_a_command_gets_the_arguments_of_its_job(office: OfficeKit) -> None:
    office.kit.app.command("build", ["echo", "{args.target}"], result="text", timeout="1m")
    await office.refused(ArgumentsDoNotFit, {"handler": "build", "args": {}})
    job = await office.one(handler="build", args={"target": "서울"})
    await office.kit.run_all()
    found = await office.job(job)
    assert (found.status, found.result, found.timeout_ms) == ("done", "서울", 60_000)
