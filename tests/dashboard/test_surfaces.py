"""The page has what the folders of the surfaces declare."""

import shutil
import subprocess
from pathlib import Path

import pytest

from hanbeon.rule import read_rules, rule_files
from hanbeon.surfaces.registry import SURFACES
from hatch_build import SOURCE, tool
from tests.absence import unavailable
from tests.docs.markdown import ROOT
from tests.surfaces.reminders.surface import SURFACE as REMINDERS
from tools import dashboard_types

_FOLDERS = sorted(path.name for path in (SOURCE / "src/pages").iterdir())


def test_pages_are_in_folders_named_after_surfaces() -> None:
    assert set(_FOLDERS) <= {surface.name for surface in SURFACES}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The folder of the dashboard, beside the rules of the package."""
    if not (SOURCE / "node_modules/esbuild").exists():
        unavailable("the dashboard's packages are not installed; `make setup` installs them with its bundle")
    copy = tmp_path / "dashboard"
    shutil.copytree(SOURCE, copy, ignore=lambda folder, _: ["node_modules"] if Path(folder) == SOURCE else [])
    (copy / "node_modules").symlink_to(SOURCE / "node_modules")
    for file in rule_files():
        _place(file, tmp_path / file.relative_to(ROOT))
    return copy


def _place(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target)


def _built(copy: Path) -> str:
    """The scripts of the page, once their types are checked."""
    folder = copy.parent / "built"
    for command in (["node_modules/typescript/bin/tsc", "--noEmit"], ["build.mjs", str(folder)]):
        done = subprocess.run([tool("node"), *command], cwd=copy, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return "".join(file.read_text() for file in folder.rglob("*.js"))


@pytest.mark.parametrize("deleted", [name for name in _FOLDERS if name != "engine"])
def test_page_builds_without_the_folder_of_a_surface(deleted: str, copy: Path) -> None:
    shutil.rmtree(copy / "src/pages" / deleted)
    built = _built(copy)
    assert f'name:"{deleted}"' not in built
    assert 'name:"jobs"' in built


def test_page_comes_with_the_folder_of_a_surface(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reminders, the example of docs/adding-a-surface.md: pages, types of requests, and texts of refusals."""
    shutil.copytree(REMINDERS.rules.parent / "page", copy / "src/pages/reminders")
    monkeypatch.setattr(dashboard_types, "SURFACES", (*SURFACES, REMINDERS))
    (copy / "src/lib/api_types.ts").write_text(dashboard_types.api_types())
    _place(REMINDERS.rules, copy.parent / "src/hanbeon/surfaces/reminders/rules.json")
    built = _built(copy)
    assert 'name:"reminders"' in built
    texts = read_rules(REMINDERS.rules)["reminder_not_found"]
    assert texts["ko"] in built
    assert texts["en"] not in built
