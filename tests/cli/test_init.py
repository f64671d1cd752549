"""`hanbeon init`: the starter files and the printed next steps work."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from tests.cli.hanbeon import call, hanbeon_inside, hanbeon_script
from tests.cli.workers import Running


def test_printed_next_steps_work(tmp_path: Path) -> None:
    done = hanbeon_script("init", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    commands = [
        line.partition("#")[0].split()[1:] for line in done.stdout.splitlines() if line.startswith("  hanbeon ")
    ]
    assert [command[0] for command in commands] == ["worker", "enqueue", "jobs", "top", "--help"]
    with Running(*commands[0], cwd=tmp_path) as worker:
        worker.until("worker_started")
        made = hanbeon_script(*commands[1], cwd=tmp_path)
        assert (made.returncode, made.stdout, made.stderr) == (0, '"Hello, Ada!"\n', "")
        for command in commands[2:]:
            assert hanbeon_script(*command, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("name", ["hanbeon.toml", pytest.param("shop.toml", marks=pytest.mark.slow)])
def test_printed_next_steps_work_without_python(tmp_path: Path, name: str) -> None:
    done = hanbeon_script("init", name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.partition("#")[0].split()[1:] for line in done.stdout.splitlines() if line.startswith("  hanbeon ")]
    assert [words[0] for words in lines] == ["worker", "enqueue", "config", "jobs", "top", "--help"]
    assert len({line.index("#") for line in done.stdout.splitlines() if "#" in line}) == 1
    assert all((f"--config {name}" in " ".join(words)) == (name != "hanbeon.toml") for words in lines[:-1])
    with Running(*lines[0], cwd=tmp_path) as worker:
        assert worker.until("worker_started")["tasks"] == ["greet"]
        made = hanbeon_script(*lines[1], cwd=tmp_path)
        assert (made.returncode, made.stdout, made.stderr) == (0, '"Hello, Ada!"\n', "")
        for command in lines[2:]:
            shown = hanbeon_script(*command, cwd=tmp_path)
            assert (shown.returncode, shown.stderr) == (0, ""), command
    assert (tmp_path / "hanbeon.db").exists()


def test_commented_parts_of_the_starter_are_valid(tmp_path: Path) -> None:
    hanbeon_inside("init", "hanbeon.toml", cwd=tmp_path)
    path = tmp_path / "hanbeon.toml"
    text = re.sub(r"(?m)^# (\[|http = |timeout = |python = |task = |cron = |args = )", r"\1", path.read_text())
    (tmp_path / "tasks.py").write_text("def report() -> None: ...\n")
    path.write_text(text)
    done = hanbeon_script("tasks", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [task["name"] for task in json.loads(done.stdout)["tasks"]] == ["greet", "ping", "report"]
    done = hanbeon_script("config", "check", cwd=tmp_path)
    assert "(3 tasks, 1 queue, 1 schedule)" in done.stdout, done.stderr


@pytest.mark.parametrize("name", ["mine.py", "mine.toml"])
@pytest.mark.parametrize("zone", ["Europe/Berlin", "Asia/Seoul"])
def test_starter_names_the_zone_of_the_host(tmp_path: Path, name: str, zone: str) -> None:
    hanbeon_inside("init", name, cwd=tmp_path, TZ=zone)
    assert f'timezone = "{zone}"' in (tmp_path / name).read_text().replace("timezone=", "timezone = ")


@pytest.mark.parametrize("name", ["mine.py", "mine.toml"])
async def test_nothing_is_overwritten(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("precious")
    answer = await call("init", str(path))
    assert (answer.code, answer.out) == (4, "")
    assert f"exists already; choose another name: hanbeon init other{path.suffix}" in answer.err
    assert path.read_text() == "precious"


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("my-jobs.py", 2, "must be the name of a Python module"),
        ("jobs.txt", 2, "must be the name of a Python module"),
        ("hanbeon.py", 2, "a Python module 'hanbeon' exists already"),
        ("nowhere/my_jobs.py", 3, "there is no folder"),
        ("nowhere/hanbeon.toml", 3, "there is no folder"),
    ],
)
def test_a_name_that_does_not_work_is_refused(tmp_path: Path, name: str, code: int, words: str) -> None:
    answer = asyncio.run(call("init", str(tmp_path / name)))
    assert (answer.code, answer.out) == (code, "")
    assert words in answer.err
    assert list(tmp_path.iterdir()) == []
