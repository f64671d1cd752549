"""Reruns of timing-sensitive failures: once, under load, and only of tests that are listed."""

import ast
from pathlib import Path

import pytest

from tests.rerun import MOST
from tests.suites import Suite, Told

_TESTS = Path(__file__).parent
_LIST = _TESTS / "timing_sensitive.txt"
_CEILING = 13
"""Length of the list. Lower it when a test leaves the list; never raise it."""
_PLUGINS = ["tests.rerun", "tests.databases.run"]
_FIRST_TIME_ONLY = """
import os, pathlib, psutil, pytest

def fails_the_first_time():
    seen = pathlib.Path(os.environ["SEEN"])
    if not seen.exists():
        seen.touch()
        raise AssertionError("too slow")
"""
_LATE = "@pytest.mark.timing_sensitive\ndef test_late():\n    fails_the_first_time()\n"


def _run(folder: Path, tests: str, *arguments: str, load: str = "--rerun-load=0") -> Told:
    return Suite(folder, _PLUGINS, _FIRST_TIME_ONLY + tests).run("--rerun-timing", load, *arguments)


@pytest.mark.parametrize("workers", [pytest.param("0", marks=pytest.mark.slow), "2"])
def test_rerun_that_passes_passes_and_is_named(tmp_path: Path, workers: str) -> None:
    said = _run(tmp_path, _LATE, "-n", workers)
    assert said.code == 0
    assert "passed when rerun under load, so the run passes: test_suite.py::test_late" in said.text
    assert "too slow" in said.text, "the first failure is still to be read"


@pytest.mark.slow
def test_rerun_is_under_load(tmp_path: Path) -> None:
    tests = """
@pytest.mark.timing_sensitive
def test_late():
    fails_the_first_time()
    busy = [each for each in psutil.Process().parent().children() if "sum(range" in " ".join(each.cmdline())]
    assert len(busy) == 2
"""
    assert _run(tmp_path, tests, load="--rerun-load=2").code == 0


def test_rerun_that_fails_again_fails(tmp_path: Path) -> None:
    said = _run(tmp_path, "@pytest.mark.timing_sensitive\ndef test_never():\n    assert 0\n")
    assert said.code == 1
    assert "failed again" in said.text


@pytest.mark.slow
def test_one_of_two_that_fails_again_fails_both(tmp_path: Path) -> None:
    never = "@pytest.mark.timing_sensitive\ndef test_never():\n    assert 0\n"
    assert _run(tmp_path, _LATE + never).code == 1


def test_unmarked_failure_is_not_rerun(tmp_path: Path) -> None:
    said = _run(tmp_path, "def test_rule():\n    fails_the_first_time()\n")
    assert said.code == 1
    assert "test_rule is not marked timing_sensitive" in said.text


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.slow)])
def test_broken_guarantee_is_not_rerun(tmp_path: Path, workers: str) -> None:
    tests = """
from tests.guarantees import guarantee

@pytest.mark.timing_sensitive
def test_once():
    with guarantee():
        fails_the_first_time()
"""
    said = _run(tmp_path, tests, "-n", workers)
    assert said.code == 1
    assert "a guarantee was broken in test_suite.py::test_once" in said.text


@pytest.mark.slow
def test_many_failures_are_not_rerun(tmp_path: Path) -> None:
    tests = f"""
@pytest.mark.timing_sensitive
@pytest.mark.parametrize("each", range({MOST + 1}))
def test_late(each):
    assert 0
"""
    said = _run(tmp_path, tests)
    assert said.code == 1
    assert f"Not rerun: {MOST + 1} tests failed." in said.text


@pytest.mark.slow
def test_nothing_is_rerun_without_the_flag(tmp_path: Path) -> None:
    assert Suite(tmp_path, _PLUGINS, _FIRST_TIME_ONLY + _LATE).run().code == 1


def test_marked_tests_are_the_listed_ones() -> None:
    listed = _LIST.read_text().split()
    assert listed == sorted(_marked())
    assert len(listed) <= _CEILING


def _marked() -> list[str]:
    """Every function below `tests/` with the marker, which stands on functions only."""
    found = []
    for path in _TESTS.rglob("test_*.py"):
        if path == Path(__file__):
            continue
        text = path.read_text()
        functions = [
            f"{path.relative_to(_TESTS).as_posix()}::{each.name}"
            for each in ast.walk(ast.parse(text))
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
            and any(ast.unparse(mark) == "pytest.mark.timing_sensitive" for mark in each.decorator_list)
        ]
        assert text.count("timing_sensitive") == len(functions), f"{path}: mark functions, one by one"
        found += functions
    return found
