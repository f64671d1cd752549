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
from tests.docs.markdown import ROOT

PACKAGE = Path(hanbeon.__file__).parent
ONE_FOLDER = sorted(path.parent.name for path in PACKAGE.glob("surfaces/*/statements.sql"))
_FILE = """
[tasks.hello]
command = ["echo", "hello"]
"""


# Quick modules that cover the engine, the store and each surface; on SQLite, since the databases are not the question.
_CORE_TESTS = [
    "domain/test_lifecycle.py",
    "engine/test_claim.py",
    "engine/test_completion.py",
    "engine/test_pool.py",
    "store/conformance/test_dependencies.py",
    "store/conformance/test_end_hooks.py",
    "store/conformance/test_leases.py",
    "store/conformance/test_limits.py",
    "store/conformance/test_retention.py",
    "app/test_enqueue.py",
    "app/test_moves.py",
    "app/test_results.py",
]
_SURFACE_TESTS = {
    "chains": ["test_pages.py", "test_walk.py"],
    "exports": ["test_flow.py", "test_paths.py"],
    "offices": ["test_jobs.py", "test_offices.py", "test_resolution.py"],
    "schedules": ["test_api.py", "test_changes.py", "test_fires.py"],
    "workflows": ["test_declarations.py", "test_repeats.py", "test_views.py"],
}


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


@pytest.mark.slow
@pytest.mark.parametrize("surface", ONE_FOLDER)
def test_tests_of_the_others_pass_without_the_surface(tmp_path: Path, surface: str) -> None:
    _deleted(surface, tmp_path)
    others = [f"surfaces/{name}/{test}" for name, tests in _SURFACE_TESTS.items() if name != surface for test in tests]
    modules = [str(ROOT / "tests" / each) for each in ("surfaces/engine/test_jobs.py", *_CORE_TESTS, *others)]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    # Without what says that this is a worker of pytest-xdist.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ran = subprocess.run(
        [*command, "-m", "not postgres and not slow", *modules],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=550,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_these_surfaces_lie_in_one_folder() -> None:
    assert ONE_FOLDER == ["chains", "exports", "offices", "schedules", "workflows"]
