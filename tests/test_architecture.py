"""Rules about the code itself that no single test of its behaviour would notice."""

import ast
from pathlib import Path

import pytest

import hanbeon
import hanbeon.testing
from hanbeon import errors
from hanbeon.settings import Settings
from tests.unordered import unordered_iterations

SOURCE = Path(hanbeon.__file__).parent
ERRORS = errors.all_errors()


def test_the_public_names_are_these() -> None:
    assert hanbeon.__all__ == [
        "App",
        "ChainJob",
        "Context",
        "HanbeonError",
        "Installation",
        "Job",
        "JobCancelled",
        "JobFailed",
        "JobRequest",
        "LogCut",
        "LogLine",
        "PermanentError",
        "SoftTimeout",
        "State",
        "SyncApp",
        "SyncContext",
        "SyncJob",
        "Task",
        "TaskError",
        "connect",
        "current",
        "daily",
        "monthly",
        "weekly",
    ]
    assert hanbeon.testing.__all__ == ["SimulationFailed", "TestKit", "VirtualClock", "effects", "simulate"]


@pytest.mark.parametrize("module", [hanbeon, hanbeon.testing], ids=lambda module: module.__name__)
def test_public_names_are_sorted_documented_and_there(module: object) -> None:
    names: list[str] = module.__all__  # type: ignore[attr-defined]
    assert names == sorted(set(names))
    for name in names:
        assert (getattr(module, name).__doc__ or "").strip(), f"{name} has no docstring"


def test_every_error_has_its_own_code_and_title() -> None:
    assert len(ERRORS) > 20
    codes = [each.code for each in ERRORS]
    assert sorted(codes) == sorted(set(codes))
    for each in ERRORS:
        assert "code" in vars(each), f"{each.__name__} inherits its code"
        assert each.code.replace("_", "").isalpha(), each.code
        assert each.code.islower(), each.code
        assert "__doc__" in vars(each), f"{each.__name__} has no title"
        assert (each.__doc__ or "").splitlines()[0].endswith((".", ";")), each.__name__
        assert isinstance(each.kind, errors.Kind)


def test_every_branch_of_the_error_tree_is_drawn() -> None:
    drawn = errors.__doc__ or ""
    branches = [each.__name__ for each in ERRORS if each.__bases__ == (errors.HanbeonError,)]
    for name in branches:
        assert name in drawn


def test_files_stay_small_and_say_what_they_are() -> None:
    texts = {str(path.relative_to(SOURCE)): path.read_text() for path in SOURCE.rglob("*.py")}
    assert [name for name, text in texts.items() if len(text.splitlines()) > 500] == []
    assert [name for name, text in texts.items() if not ast.get_docstring(ast.parse(text))] == []


def test_no_file_is_a_drawer_for_odds_and_ends() -> None:
    assert not {path.stem for path in SOURCE.rglob("*.py")} & {"utils", "helpers", "common", "models", "misc"}


def test_every_setting_is_described() -> None:
    described = {name: field.description or "" for name, field in Settings.model_fields.items()}
    odd = [name for name, text in described.items() if len(text) <= 10 or not text[0].isupper() or text.endswith(".")]
    assert odd == []


def test_the_engine_iterates_over_no_set() -> None:
    """Their order differs from one process to the next: a simulated run could not be repeated."""
    folders = (SOURCE / name for name in ("engine", "store", "events"))
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        for line in unordered_iterations(ast.parse(path.read_text()))
    ]
    assert found == []


def test_iterations_over_sets_are_found() -> None:
    text = """
class Hub:
    callbacks: dict[str, set[int]]
    def take(self, hints: set[str], names: list[str]) -> None:
        for hint in hints:
            list(self.callbacks[hint])
        [each for each in {1, 2}]
        for name in sorted(hints) + names: any(each for each in hints)
        call(*hints)
"""
    assert unordered_iterations(ast.parse(text)) == [5, 6, 7, 9]
