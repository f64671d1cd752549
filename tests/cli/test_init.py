"""`hanbeon init`: a file to begin with, and words that are true."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from tests.cli.hanbeon import call, hanbeon, start


def test_what_it_says_comes_next_works(tmp_path: Path) -> None:
    done = hanbeon("init", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    commands = [
        line.partition("#")[0].split()[1:] for line in done.stdout.splitlines() if line.startswith("  hanbeon ")
    ]
    assert [command[0] for command in commands] == ["worker", "enqueue", "jobs", "top", "--help"]
    with start(*commands[0], cwd=tmp_path, stdout=subprocess.DEVNULL) as worker:
        try:
            made = hanbeon(*commands[1], cwd=tmp_path)
            assert (made.returncode, made.stdout, made.stderr) == (0, '"Hello, Ada!"\n', "")
            for command in commands[2:]:
                assert hanbeon(*command, cwd=tmp_path).returncode == 0
        finally:
            worker.terminate()
            worker.communicate(timeout=30)


async def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("precious")
    answer = await call("init", str(path))
    assert (answer.code, answer.out) == (4, "")
    assert "is there already" in answer.err
    assert path.read_text() == "precious"


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("my-jobs.py", 2, "is not the name of a Python module"),
        ("jobs.txt", 2, "is not the name of a Python module"),
        ("hanbeon.py", 2, "Python has a module 'hanbeon' already"),
        ("nowhere/my_jobs.py", 3, "there is no folder"),
    ],
)
def test_a_name_that_does_not_work_is_refused(tmp_path: Path, name: str, code: int, words: str) -> None:
    answer = asyncio.run(call("init", str(tmp_path / name)))
    assert (answer.code, answer.out) == (code, "")
    assert words in answer.err
    assert list(tmp_path.iterdir()) == []
