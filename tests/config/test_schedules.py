"""`[schedules.NAME]` in `hanbeon.toml`: what fits is declared, what does not is refused with its place."""

from pathlib import Path

import pytest

from hanbeon import App
from hanbeon.errors import InvalidInput
from tests.config.files import read, refused, write

_TASK = '[tasks.report]\ncommand = ["echo", "{args.day}"]\n'


def test_a_schedule_is_read_with_all_that_may_be_said_of_it(tmp_path: Path) -> None:
    file = read(
        tmp_path,
        f"""{_TASK}
        [schedules.nightly]
        task = "report"
        cron = "0 3 * * *"
        timezone = "Europe/Berlin"
        args = {{ day = "today" }}
        overlap = "queue_one"
        misfire = "all"
        misfire_limit = 5
        jitter = "5m"
        starts_at = 2030-01-01T00:00:00
        ends_at = "2031-01-01T00:00:00Z"
        dst_gap = "skip"
        dst_fold = "both"
        paused = true
        [schedules."once upon a time"]
        task = "report"
        args = {{ day = "then" }}
        run_at = 1999-01-01T00:00:00Z
        """,
    )
    nightly, once = file.surfaces["schedules"]
    assert (nightly.name, nightly.task, once.name) == ("nightly", "report", "once upon a time")
    app = App().use(file)
    declared = app.declared["schedules"].resolved(app.tasks, app.settings)[0]
    assert declared.fields["starts_at"] == 1_893_452_400_000_000, "midnight in Berlin"
    assert declared.fields["jitter"] == 300_000_000
    assert declared.whole.paused


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ('task = "report"\ncron = "0 3 * *"', "schedules.nightly.cron: must have 5 fields"),
        ('task = "report"\ncron = "61 3 * * *"', "schedules.nightly.cron: minute must be 0–59"),
        ('task = "report"\ncron = "0 3 * * *"\ntimezone = "Asia/Soul"', "did you mean Asia/Seoul"),
        ('task = "report"', "schedules.nightly.cron: is required, or every, or run_at"),
        ('cron = "0 3 * * *"', "schedules.nightly.task: is required; name the task"),
        ('task = "report"\ncorn = "0 3 * * *"', "schedules.nightly.corn: unknown field; did you mean"),
        ('task = "report"\ncron = "0 3 * * *"\nname = "x"', "schedules.nightly.name: unknown field"),
        ('task = "report"\nrun_at = 2030-01-01', "schedules.nightly.run_at:"),
        ('task = "report"\ncron = "0 3 * * *"\nargs = { dya = 1 }', "schedules.nightly.args: task 'report'"),
        ('task = "report"\ncron = "0 3 * * *"\noverlap = "maybe"', "schedules.nightly.overlap: must be one of"),
    ],
)
def test_problems_are_reported_with_place_and_line(tmp_path: Path, said: str, problem: str) -> None:
    args = "" if "args" in said else 'args = { day = "today" }\n'
    (line,) = refused(tmp_path, f"{_TASK}[schedules.nightly]\n{args}{said}\n")
    assert problem in line
    assert line.endswith(")")
    assert "(line " in line


@pytest.mark.parametrize(
    ("said", "places"),
    [
        ("taks = 'report'\ncorn = '61 * * * *'\nargs = 3", ["args", "corn", "cron", "taks"]),
        ("jitter = 'x'\noverlap = 3\nmisfire_limit = 0\npaused = 1", "cron jitter misfire_limit overlap paused task"),
        ("task = 'report'\ncron = 'x'\ntimezone = 'Mars'\nargs = {dya = 1}", ["args", "cron", "timezone"]),
        (
            "task = 'report'\nargs.day = 1\nrun_at = 'x'\ndst_gap = 'skip'\nends_at = '1999-01-01T00:00'",
            "dst_gap run_at",
        ),
        ("task = 'report'\nargs.day = 1\ncron = '* * * * *'\nrun_at = 'x'\nmisfire = 'x'", ["misfire", "run_at"]),
    ],
)
def test_all_problems_of_a_schedule_are_reported(tmp_path: Path, said: str, places: list[str] | str) -> None:
    lines = refused(tmp_path, f"{_TASK}[schedules.nightly]\n{said}\n")
    expected = places.split() if isinstance(places, str) else places
    assert sorted(line.partition(":")[0].removeprefix("schedules.nightly.") for line in lines) == expected
    assert all(line.endswith(")") and "(line " in line for line in lines)


def test_every_table_tells_its_problem(tmp_path: Path) -> None:
    lines = refused(tmp_path, 'schedules = 3\n[schedule.x]\ncron = "* * * * *"\n')
    assert [line.partition(":")[0] for line in lines] == ["schedules", "schedule"]
    assert "did you mean 'schedules'?" in lines[1]
    lines = refused(tmp_path, "[schedules]\na = 3\n[schedules.b]\ntask = 5\ncron = '* * * * *'\n")
    assert [line.partition(":")[0] for line in lines] == ["schedules.a", "schedules.b.task"]


def test_code_and_file_do_not_declare_the_same_name_otherwise(tmp_path: Path) -> None:
    file = read(tmp_path, '[schedules.nightly]\ntask = "report"\ncron = "0 3 * * *"\n')
    app = App()
    app.schedule("nightly", "report", cron="0 3 * * *")
    app.use(file)
    other = App()
    other.schedule("nightly", "report", cron="0 4 * * *")
    with pytest.raises(InvalidInput, match="declared twice"):
        other.use(file)


def test_another_file_takes_the_place_of_the_first(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    app = App().use(read(tmp_path, '[schedules.a]\ntask = "report"\ncron = "0 3 * * *"\n'))
    write(tmp_path / "other", '[schedules.b]\ntask = "report"\ncron = "0 3 * * *"\n')
    app.use(read(tmp_path / "other", '[schedules.b]\ntask = "report"\ncron = "0 3 * * *"\n'))
    assert [each.name for each in app.declared["schedules"].resolved(app.tasks, app.settings)] == ["b"]
