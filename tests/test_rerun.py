"""What failed in company is asked once more, alone; what is broken stays broken."""

from pathlib import Path

import pytest

from tests.rerun import FOLDERS, MOST
from tests.suites import Suite, Told

_PLUGINS = ["tests.rerun", "tests.databases.run"]
_FIRST_TIME_ONLY = """
import os, pathlib, pytest

def fails_the_first_time():
    seen = pathlib.Path(os.environ["SEEN"])
    if not seen.exists():
        seen.touch()
        raise AssertionError("too slow")
"""


def _run(folder: Path, tests: str, *arguments: str) -> Told:
    return Suite(folder, _PLUGINS, _FIRST_TIME_ONLY + tests).run("--again", *arguments)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_passes_alone_passes_and_is_told(tmp_path: Path, workers: str) -> None:
    told = _run(tmp_path, "@pytest.mark.real_time\ndef test_late():\n    fails_the_first_time()\n", "-n", workers)
    assert told.code == 0
    assert "passed alone, so the run passes: test_suite.py::test_late" in told.text
    assert "too slow" in told.text, "the first failure is still to be read"


def test_what_fails_alone_fails(tmp_path: Path) -> None:
    told = _run(tmp_path, "@pytest.mark.real_time\ndef test_never():\n    assert 0\n")
    assert told.code == 1
    assert "failed again" in told.text


def test_one_of_two_that_fails_again_fails_both(tmp_path: Path) -> None:
    tests = """
pytestmark = pytest.mark.real_time

def test_late():
    fails_the_first_time()

def test_never():
    assert 0
"""
    assert _run(tmp_path, tests).code == 1


def test_what_does_not_depend_on_time_is_not_asked_again(tmp_path: Path) -> None:
    told = _run(tmp_path, "def test_rule():\n    fails_the_first_time()\n")
    assert told.code == 1
    assert "test_rule does not depend on the machine's time" in told.text


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_broken_guarantee_is_not_excused(tmp_path: Path, workers: str) -> None:
    tests = """
from tests.guarantees import guarantee

@pytest.mark.real_time
def test_once():
    with guarantee():
        fails_the_first_time()
"""
    told = _run(tmp_path, tests, "-n", workers)
    assert told.code == 1
    assert "a guarantee was broken in test_suite.py::test_once" in told.text


def test_many_failures_are_no_accident(tmp_path: Path) -> None:
    tests = f"""
@pytest.mark.real_time
@pytest.mark.parametrize("each", range({MOST + 1}))
def test_late(each):
    assert 0
"""
    told = _run(tmp_path, tests)
    assert told.code == 1
    assert f"Not run again: {MOST + 1} tests failed." in told.text


def test_without_being_asked_to_nothing_is_run_again(tmp_path: Path) -> None:
    tests = _FIRST_TIME_ONLY + "@pytest.mark.real_time\ndef test_late():\n    fails_the_first_time()\n"
    assert Suite(tmp_path, _PLUGINS, tests).run().code == 1


def test_the_folders_are_there() -> None:
    tests = Path(__file__).parent
    assert {each for each in FOLDERS if not (tests / each).is_dir()} == set()


def test_tests_of_such_a_folder_are_marked(request: pytest.FixtureRequest) -> None:
    collected = {item.path.parent.name: item for item in request.session.items}
    told = {name: item.get_closest_marker("real_time") is not None for name, item in collected.items()}
    assert not told["tests"]
    assert all(marked for name, marked in told.items() if name in ("chaos", "cli", "executors"))
