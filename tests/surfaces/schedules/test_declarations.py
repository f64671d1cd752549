"""Declared schedules: created once, changed where the declaration changes, keeping an operator's changes."""

import datetime as dt
from typing import Any

import pytest

from hanbeon import App
from hanbeon.errors import InvalidInput, ScheduleDeclared, ScheduleNotFound
from hanbeon.store.operations import instances as instance_rows
from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.declarations import DeclaredSchedules
from hanbeon.testing import TestKit
from tests.surfaces.schedules.schedule_kit import add_tasks

Declare = dict[str, Any]
NIGHTLY: Declare = {"task": "report", "cron": "0 3 * * *"}


class Deploys:
    """Workers that start, each with declarations of its own, on one database."""

    def __init__(self, kit: TestKit) -> None:
        self.kit, self.app = kit, kit.app
        self.gates = add_tasks(kit.app)

    async def start(self, **schedules: Declare) -> None:
        """A worker starts, declares these and leaves."""
        self.app.declared = {"schedules": DeclaredSchedules()}
        for name, fields in schedules.items():
            self.app.declared["schedules"].declare(name, fields)
        worker = self.app.worker()
        await worker.register()
        await self.app.store.write(lambda tx: instance_rows.leave(tx, worker.instance))

    async def get(self, name: str = "nightly") -> schemas.Schedule:
        return await self.app.schedules.get(name)

    async def names(self) -> list[str | None]:
        return [each.name for each in (await self.app.schedules.list()).items]


@pytest.fixture
async def deploys(kit: TestKit) -> Deploys:
    return Deploys(kit)


def logged(caplog: pytest.LogCaptureFixture, event: str) -> list[str]:
    return [record.getMessage() for record in caplog.records if event in record.getMessage()]


async def test_declared_schedule_is_created_by_the_first_worker(deploys: Deploys) -> None:
    await deploys.start(nightly=NIGHTLY | {"args": {"day": "declared"}, "timezone": "Asia/Seoul"})
    schedule = await deploys.get()
    assert (schedule.task_id, schedule.cron, schedule.args) == ("report", "0 3 * * *", {"day": "declared"})
    assert (schedule.declared, schedule.overridden, schedule.version) == (True, [], 1)
    await deploys.kit.advance(86_400)
    await deploys.kit.worker.polls["fire"].run_once()
    while await deploys.kit.tick():
        pass
    assert deploys.gates.ran == ["declared"]


async def test_the_same_again_changes_nothing_that_an_operator_changed(deploys: Deploys) -> None:
    declaration = NIGHTLY | {"args": {"day": "declared"}, "jitter": "5m", "starts_at": "2026-01-01T00:00"}
    await deploys.start(nightly=declaration)
    await deploys.app.schedules.change("nightly", cron="0 4 * * *", args={"day": "tuesday"}, paused=True)
    before = await deploys.get()
    for _ in range(3):
        await deploys.start(nightly=declaration)
    assert await deploys.get() == before
    assert before.overridden == ["args", "cron"]


async def test_changed_declaration_sets_only_its_changed_fields(deploys: Deploys) -> None:
    await deploys.start(nightly=NIGHTLY | {"overlap": "allow"})
    await deploys.app.schedules.change("nightly", cron="0 4 * * *", paused=True, misfire="skip")
    await deploys.start(nightly=NIGHTLY | {"overlap": "queue_one"})
    schedule = await deploys.get()
    assert (schedule.overlap, schedule.cron, schedule.paused, schedule.misfire) == (
        "queue_one",
        "0 4 * * *",
        True,
        "skip",
    )
    await deploys.start(nightly=NIGHTLY | {"cron": "0 5 * * *"})
    schedule = await deploys.get()
    assert (schedule.cron, schedule.overlap) == ("0 5 * * *", "skip"), "what it no longer names is as by default"
    assert schedule.paused, "the declaration does not set it"
    await deploys.start(nightly=NIGHTLY | {"cron": "0 5 * * *", "paused": False})
    schedule = await deploys.get()
    assert not schedule.paused, "now it does"
    assert schedule.overridden == []


async def test_the_task_and_the_kind_of_time_can_change(deploys: Deploys) -> None:
    await deploys.start(nightly=NIGHTLY | {"dst_gap": "skip"})
    await deploys.start(nightly={"task": "hold", "run_at": "2035-01-01T09:00:00Z"})
    schedule = await deploys.get()
    assert (schedule.task_id, schedule.cron, schedule.dst_gap) == ("hold", None, None)
    assert schedule.next_fire_at == schedule.run_at == "2035-01-01T18:00:00.000+09:00"
    await deploys.app.schedules.change("nightly", cron="0 1 * * *", dst_fold="both")
    await deploys.start(nightly={"task": "hold", "run_at": "2036-01-01T09:00:00Z"})
    schedule = await deploys.get()
    assert (schedule.cron, schedule.dst_fold) == (None, None), "what was left would not go together with it"
    assert schedule.run_at == "2036-01-01T18:00:00.000+09:00"


async def test_installation_zone_is_part_of_the_declaration(deploys: Deploys) -> None:
    await deploys.start(nightly=NIGHTLY)
    assert (await deploys.get()).timezone == "Asia/Seoul"
    deploys.app.settings = deploys.app.settings.model_copy(update={"timezone": "Europe/Berlin"})
    await deploys.start(nightly=NIGHTLY)
    assert (await deploys.get()).timezone == "Europe/Berlin"


async def test_rejects_a_naive_time_in_code_unless_a_zone_is_chosen(deploys: Deploys) -> None:
    naive = {"task": "hold", "run_at": dt.datetime(2090, 1, 1, 12)}
    with pytest.raises(InvalidInput, match="must have a time zone, got 2090-01-01 12:00:00") as refused:
        await deploys.start(nightly=naive)
    assert refused.value.field == "schedules.nightly.run_at"
    deploys.app.settings = deploys.app.settings.model_copy(update={"timezone": "Europe/Berlin"})
    await deploys.start(nightly=naive)
    assert (await deploys.get()).run_at == "2090-01-01T12:00:00.000+01:00"


async def test_deleted_schedule_returns_with_a_changed_declaration(deploys: Deploys) -> None:
    await deploys.start(nightly=NIGHTLY)
    await deploys.app.schedules.change("nightly", paused=True, overlap="allow")
    schedule = await deploys.get()
    await deploys.app.schedules.delete("nightly")
    await deploys.start(nightly=NIGHTLY)
    assert await deploys.names() == []
    with pytest.raises(ScheduleNotFound):
        await deploys.get()
    await deploys.start(nightly=NIGHTLY | {"cron": "30 3 * * *"})
    again = await deploys.get()
    assert (again.id, again.cron, again.paused, again.overlap) == (schedule.id, "30 3 * * *", False, "skip")
    assert again.next_fire_at is not None


async def test_a_schedule_that_somebody_made_is_adopted_as_it_is(
    deploys: Deploys, caplog: pytest.LogCaptureFixture
) -> None:
    made = await deploys.app.schedules.create("hold", name="nightly", cron="0 9 * * *", paused=True)
    await deploys.start(nightly=NIGHTLY)
    schedule = await deploys.get()
    assert (schedule.id, schedule.task_id, schedule.cron, schedule.paused) == (made.id, "hold", "0 9 * * *", True)
    assert (schedule.declared, schedule.overridden) == (True, ["cron", "task_id"])
    assert "as_it_was=['cron', 'task_id']" in logged(caplog, "schedule_adopted")[0]
    await deploys.start(nightly=NIGHTLY | {"cron": "0 10 * * *"})
    schedule = await deploys.get()
    assert (schedule.task_id, schedule.cron) == ("hold", "0 10 * * *")


async def test_the_name_of_a_declared_schedule_is_its_declarations(deploys: Deploys) -> None:
    await deploys.start(nightly=NIGHTLY)
    for name in ("other", None):
        with pytest.raises(ScheduleDeclared, match="which would create it again"):
            await deploys.app.schedules.change("nightly", name=name, cron="0 4 * * *")
    assert (await deploys.app.schedules.change("nightly", name="nightly", cron="0 5 * * *")).cron == "0 5 * * *"


async def test_a_name_that_was_deleted_and_made_anew_is_adopted(deploys: Deploys) -> None:
    await deploys.start(nightly=NIGHTLY)
    await deploys.app.schedules.delete("nightly")
    await deploys.app.schedules.create("hold", name="nightly", cron="0 9 * * *")
    await deploys.start(nightly=NIGHTLY)
    assert (await deploys.get()).task_id == "hold"
    assert await deploys.names() == ["nightly"]


async def test_removed_declaration_keeps_its_schedule_and_is_logged(
    deploys: Deploys, caplog: pytest.LogCaptureFixture
) -> None:
    await deploys.start(nightly=NIGHTLY, weekly=NIGHTLY)
    await deploys.app.schedules.delete("weekly")
    assert not logged(caplog, "schedule_no_longer_declared")
    await deploys.start()
    assert (await deploys.get()).next_fire_at is not None
    (line,) = logged(caplog, "schedule_no_longer_declared")
    assert "schedule='nightly'" in line
    assert "hanbeon schedule delete" in line


async def test_schedule_a_live_worker_declares_is_not_reported_gone(
    deploys: Deploys, caplog: pytest.LogCaptureFixture
) -> None:
    deploys.app.declared["schedules"].declare("nightly", NIGHTLY)
    old = deploys.app.worker()
    await old.register()
    await deploys.start()
    assert not logged(caplog, "schedule_no_longer_declared")
    (alive,) = [each for each in await deploys.app.instances() if each.stopped_at is None]
    assert alive.schedules == ["nightly"]


async def test_old_and_new_workers_change_it_once_for_each_that_starts(deploys: Deploys) -> None:
    old, new = NIGHTLY, NIGHTLY | {"cron": "0 5 * * *"}
    app = App(deploys.app.settings.database_url, clock=deploys.kit.clock)
    add_tasks(app)
    app.declared["schedules"].declare("nightly", old)
    async with app:
        going_on = app.worker()
        await going_on.register()
        await deploys.start(nightly=new)
        version = (await deploys.get()).version
        for _ in range(3):
            await going_on.register()  # As if its row had been pruned while it slept.
            await going_on.beat.run_once()
        assert ((await deploys.get()).cron, (await deploys.get()).version) == ("0 5 * * *", version)
    await deploys.start(nightly=old)
    assert (await deploys.get()).cron == "0 3 * * *", "the last one that started has the word"
    await deploys.start(nightly=new)
    assert ((await deploys.get()).cron, (await deploys.get()).version) == ("0 5 * * *", version + 2)


async def test_an_instant_that_is_past_is_no_error(deploys: Deploys, caplog: pytest.LogCaptureFixture) -> None:
    page = await deploys.app.schedules.preview_of(cron="* * * * *", n=1)
    soon = {"task": "report", "run_at": page[0].at}
    await deploys.start(once=soon)
    await deploys.kit.advance(3_600)
    await deploys.kit.tick()
    assert deploys.gates.ran == [""]
    fired = await deploys.get("once")
    assert not logged(caplog, "schedule_never_fires")
    await deploys.start(once=soon, never={"task": "report", "run_at": "1999-01-01T00:00:00Z"})
    assert await deploys.get("once") == fired
    never = await deploys.get("never")
    assert never.next_fire_at is None
    assert "schedule='never'" in logged(caplog, "schedule_never_fires")[-1]


async def test_unknown_task_is_logged_and_the_others_are_declared(
    deploys: Deploys, caplog: pytest.LogCaptureFixture
) -> None:
    await deploys.start(lost={"task": "nothing", "cron": "0 3 * * *"}, nightly=NIGHTLY)
    assert await deploys.names() == ["nightly"]
    (line,) = logged(caplog, "schedule_not_declared")
    assert "there is no task 'nothing' yet" in line

    @deploys.app.task(name="nothing")
    async def something() -> None:
        return

    await deploys.start(lost={"task": "nothing", "cron": "0 3 * * *"})
    assert await deploys.names() == ["nightly", "lost"]


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"cron": "0 3 * *"}, "cron", "5 fields"),
        ({"cron": "0 3 30 2 *"}, "cron", "never fires"),
        ({"cron": "0 3 * * *", "timezone": "Asia/Soul"}, "timezone", "did you mean Asia/Seoul"),
        ({}, "cron", "is required, or every, or run_at"),
        ({"cron": "0 3 * * *", "run_at": "2030-01-01T00:00"}, "run_at", "must not be combined with cron"),
        ({"run_at": "2030-01-01T00:00", "dst_gap": "skip"}, "dst_gap", "must not be combined with run_at"),
        ({"cron": "0 3 * * *", "overlap": "never"}, "overlap", "skip, allow, queue_one"),
        ({"cron": "0 3 * * *", "args": [1]}, "args", "must be an object"),
        ({"cron": "0 3 * * *", "paused": "no"}, "paused", "true or false"),
        ({"cron": "0 3 * * *", "crom": "1"}, "crom", "did you mean 'cron'"),
    ],
)
def test_rejects_invalid_declaration_at_the_call(fields: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        App().schedule("nightly", "report", **fields)
    assert refused.value.field == field


async def test_rejects_invalid_arguments_when_a_worker_is_made(deploys: Deploys) -> None:
    deploys.app.schedule("nightly", "report", cron="0 3 * * *", args={"dya": "x"})
    with pytest.raises(InvalidInput, match=r"schedules\.nightly\.args: .*'dya'"):
        deploys.app.worker()


def test_a_name_is_declared_once() -> None:
    app = App()
    for _ in range(2):  # An equal declaration is accepted.
        app.schedule("nightly", "report", cron="0 3 * * *")
    with pytest.raises(InvalidInput, match="declared twice"):
        app.schedule("nightly", "report", cron="0 4 * * *")
