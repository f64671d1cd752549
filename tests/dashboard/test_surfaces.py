"""The page has what the folders of the surfaces declare."""

import shutil
import subprocess
from pathlib import Path

import pytest

from hanbeon.surfaces.registry import SURFACES
from hatch_build import SOURCE, tool
from tests.absence import unavailable
from tests.docs.markdown import ROOT

_FOLDERS = sorted(path.name for path in (SOURCE / "src/pages").iterdir())


def test_pages_are_in_folders_named_after_surfaces() -> None:
    assert set(_FOLDERS) <= {surface.name for surface in SURFACES}


@pytest.mark.parametrize("deleted", [name for name in _FOLDERS if name != "engine"])
def test_page_builds_without_the_folder_of_a_surface(deleted: str, tmp_path: Path) -> None:
    if not (SOURCE / "node_modules/esbuild").exists():
        unavailable("the dashboard's packages are not installed; `make setup` installs them with its bundle")
    copy = tmp_path / "dashboard"
    shutil.copytree(SOURCE, copy, ignore=lambda folder, _: ["node_modules"] if Path(folder) == SOURCE else [])
    (copy / "node_modules").symlink_to(SOURCE / "node_modules")
    (tmp_path / "src").symlink_to(ROOT / "src")
    shutil.rmtree(copy / "src/pages" / deleted)
    for command in (["node_modules/typescript/bin/tsc", "--noEmit"], ["build.mjs", str(tmp_path / "built")]):
        done = subprocess.run([tool("node"), *command], cwd=copy, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    built = "".join(file.read_text() for file in (tmp_path / "built").rglob("*.js"))
    assert f'name:"{deleted}"' not in built
    assert 'name:"jobs"' in built
