"""Workers that start concurrently create each declared schedule once."""

from pathlib import Path

from hanbeon import App
from tests.cli.workers import Running
from tests.config.files import write

_FILE = """
[tasks.report]
command = ["true"]
[schedules.nightly]
task = "report"
cron = "0 3 * * *"
[schedules.weekly]
task = "report"
cron = "0 3 * * MON"
"""


async def test_concurrent_workers_create_each_schedule_once(database_url: str, tmp_path: Path) -> None:
    await App(database_url).migrate()
    write(tmp_path, _FILE)
    workers = [Running("worker", "--database", database_url, cwd=tmp_path) for _ in range(4)]
    try:
        made = []
        for worker in workers:
            for line in worker.lines():
                made += [line["schedule"]] if line["event"] == "schedule_declared" else []
                if line["event"] == "worker_started":
                    break
        assert sorted(made) == ["nightly", "weekly"]
        async with App(database_url) as app:
            found = (await app.schedules.list()).items
            assert sorted((each.name, each.version) for each in found) == [("nightly", 1), ("weekly", 1)]
            assert [each.schedules for each in await app.instances()] == [["nightly", "weekly"]] * 4
    finally:
        for worker in workers:
            worker.__exit__()
