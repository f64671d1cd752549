"""A surface that lies in one folder can be deleted: its folder, its line in the registry, and everything else works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hanbeon

PACKAGE = Path(hanbeon.__file__).parent
ONE_FOLDER = sorted(path.parent.name for path in PACKAGE.glob("surfaces/*/statements.sql"))
_FILE = """
[tasks.hello]
command = ["echo", "hello"]
"""


def _deleted(surface: str, folder: Path) -> Path:
    """Copy the package without a surface."""
    copy = folder / "hanbeon"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "dashboard"))
    shutil.rmtree(copy / "surfaces" / surface)
    registry = copy / "surfaces" / "registry.py"
    text = registry.read_text()
    for name in re.findall(rf"from hanbeon\.surfaces\.{surface}\..* as (\w+)\n", text):
        text = re.sub(rf", {name}\b", "", re.sub(rf"from .* as {name}\n", "", text))
    registry.write_text(text)
    return copy


@pytest.mark.parametrize("surface", ONE_FOLDER)
def test_engine_works_without_the_surface(tmp_path: Path, empty_database_url: str, surface: str) -> None:
    _deleted(surface, tmp_path)
    (tmp_path / "hanbeon.toml").write_text(_FILE)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "HANBEON_DATABASE_URL": empty_database_url}

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "hanbeon", *words]
        ran = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert ran.returncode == 0, (words, ran.stdout, ran.stderr)
        return ran.stdout

    assert f"\n{surface.capitalize()}:\n" not in run("--help")
    run("migrate")
    run("enqueue", "hello")
    run("tick", "--budget", "30")
    assert "succeeded" in run("jobs")
    assert run("verify").startswith("sound")


def test_these_surfaces_lie_in_one_folder() -> None:
    assert ONE_FOLDER == ["chains", "exports", "offices", "schedules", "workflows"]
