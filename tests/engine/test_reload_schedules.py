"""A worker that reads its file again declares the schedules that have changed in it, or nothing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hanbeon import App
from hanbeon.testing import TestKit
from tests.config.files import write

_TASK = '[tasks.report]\ncommand = ["echo", "{args.day}"]\n'
_NIGHTLY = '[schedules.nightly]\ntask = "report"\ncron = "0 3 * * *"\nargs = { day = "today" }\n'
_LATER = _NIGHTLY.replace("0 3", "0 4")


@pytest.fixture
async def kit(tmp_path: Path, kit_url: str) -> AsyncIterator[TestKit]:
    """A kit whose App comes from a file."""
    app = App.from_file(write(tmp_path, _TASK + _NIGHTLY))
    async with TestKit(app, kit_url, limit=20) as kit:
        await kit.worker.register()
        yield kit


async def _reload(kit: TestKit, folder: Path, text: str) -> None:
    write(folder, text)
    kit.worker.reload_soon()
    await kit.worker.reload.run_once()


async def _crons(kit: TestKit) -> dict[str | None, str | None]:
    return {each.name: each.cron for each in (await kit.app.schedules.list()).items}


async def test_changes_of_the_file_are_declared(kit: TestKit, tmp_path: Path) -> None:
    assert await _crons(kit) == {"nightly": "0 3 * * *"}
    await kit.app.schedules.change("nightly", cron="0 9 * * *")
    await _reload(kit, tmp_path, _TASK + _NIGHTLY)
    assert await _crons(kit) == {"nightly": "0 9 * * *"}, "the file says the same as before"
    more = '[tasks.more]\ncommand = ["true"]\n[schedules.hourly]\ntask = "more"\ncron = "@hourly"\n'
    await _reload(kit, tmp_path, _TASK + _LATER + more)
    assert await _crons(kit) == {"nightly": "0 4 * * *", "hourly": "@hourly"}
    (instance,) = await kit.app.instances()
    assert instance.schedules == ["hourly", "nightly"]


async def test_task_and_its_schedules_arguments_change_together(kit: TestKit, tmp_path: Path) -> None:
    await _reload(kit, tmp_path, _TASK.replace("day", "month") + _NIGHTLY.replace("day =", "month ="))
    (schedule,) = (await kit.app.schedules.list()).items
    assert schedule.args == {"month": "today"}


async def test_schedule_missing_from_the_file_stays_and_is_logged(
    kit: TestKit, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await _reload(kit, tmp_path, _TASK)
    assert await _crons(kit) == {"nightly": "0 3 * * *"}
    (entry,) = [each.getMessage() for each in caplog.records if "schedule_no_longer_declared" in each.getMessage()]
    assert "schedule='nightly'" in entry
    (instance,) = await kit.app.instances()
    assert instance.schedules == []


@pytest.mark.parametrize(
    "bad",
    [
        _TASK + _NIGHTLY.replace("0 3", "0 33"),
        _TASK.replace("day", "month") + _NIGHTLY.replace("0 3", "0 5"),
        _TASK + _LATER + '[schedules.own]\ntask = "report"\ncron = "0 1 * * *"\n',
        '[tasks.work]\ncommand = ["echo", "{args.what}"]\n' + _LATER,
    ],
    ids=["cron", "arguments", "declared by code", "arguments of one that code declares"],
)
async def test_of_a_bad_file_nothing_is_put_in_force(
    kit: TestKit, tmp_path: Path, bad: str, caplog: pytest.LogCaptureFixture
) -> None:
    kit.app.schedule("own", "work", cron="0 2 * * *")
    await _reload(kit, tmp_path, bad)
    assert [each.levelname for each in caplog.records if "reload_refused" in each.getMessage()] == ["ERROR"]
    assert await _crons(kit) == {"nightly": "0 3 * * *"}
    assert kit.app.tasks.names() == ["report"]
