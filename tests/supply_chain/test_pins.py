"""Versions and hashes are pinned for everything that is asked for, and a file with another hash is refused."""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from hatch_build import INSTALL, npm
from tests.supply_chain.registry import registry, tarball
from tools.pins import ROOT, Pin, complaints, npm_pins, python_pins

_PROJECT = (ROOT / "pyproject.toml").read_text()
_LISTS = [ROOT / "constraints.txt", *sorted((ROOT / "bench/peers").glob("*.txt"))]


@pytest.mark.parametrize("path", _LISTS, ids=lambda path: path.name)
def test_lists_have_hashes_and_no_addresses(path: Path) -> None:
    pins = list(python_pins(path.read_text()))
    assert pins
    assert not [pin for pin in pins if not pin.hashes]
    assert "://" not in path.read_text()


def test_constraints_match_the_project() -> None:
    assert list(complaints(_PROJECT, list(python_pins(_LISTS[0].read_text())))) == [], "run `make lock`"


def test_complaints_name_what_to_lock() -> None:
    project = """
        [build-system]
        requires = ["builder>=1"]
        [project]
        dependencies = ["Found_One>=2", "old<3"]
        [project.optional-dependencies]
        more = ["absent"]
    """
    locked = (("SHA-256", "00"),)
    pins = [Pin("pypi", "builder", "1.0"), *(Pin("pypi", name, "3", hashes=locked) for name in ("found-one", "old"))]
    assert list(complaints(project, pins)) == [
        "builder==1.0 has no hash",
        "old<3 is required, but 3 is pinned",
        "absent is required, but no version is pinned",
    ]


def test_setup_refuses_a_wheel_with_another_hash(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--isolated",
        *_setup_arguments(),
        "--dry-run",
        "--no-index",
        "--find-links",
        ".",
    ]
    for listed, said in [
        (f"tiny==1.0 --hash=sha256:{digest}", None),
        (f"tiny==1.0 --hash=sha256:{digest[::-1]}", "DO NOT MATCH THE HASHES"),
        ("tiny==1.0", "Hashes are required"),
    ]:
        (tmp_path / "constraints.txt").write_text(listed + "\n")
        done = subprocess.run(pip, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
        assert (done.returncode == 0) is (said is None), done.stderr
        assert said is None or said in done.stderr


def _setup_arguments() -> list[str]:
    """Return the arguments with which `make setup` calls pip for the list."""
    recipe = ["make", "--dry-run", "--always-make", "--no-print-directory", "UNVERIFIED=", "setup"]
    done = subprocess.run(recipe, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    (line,) = [line for line in done.stdout.splitlines() if "pip install" in line and "constraints.txt" in line]
    return shlex.split(line)[1:]


def _wheel(folder: Path) -> Path:
    path = folder / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        wheel.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("tiny-1.0.dist-info/RECORD", "")
    return path


def test_page_lock_has_hashes_and_no_addresses() -> None:
    text = (ROOT / "dashboard/package-lock.json").read_text()
    pins = list(npm_pins(text))
    assert {pin.name for pin in pins if pin.shipped} >= {"preact", "@preact/signals", "uplot"}
    assert not [pin for pin in pins if [algorithm for algorithm, _ in pin.hashes] != ["SHA-512"]]
    assert '"resolved"' not in text


def test_npm_refuses_a_package_with_another_hash(tmp_path: Path) -> None:
    """npm checks `integrity` although the lock names no address: the page's lock has none."""
    archive = tarball()
    right = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
    wrong = "sha512-" + base64.b64encode(hashlib.sha512(b"another").digest()).decode()
    manifest = {"name": "page", "version": "1.0.0", "dependencies": {"tiny": "1.0.0"}}
    (tmp_path / "package.json").write_text(json.dumps(manifest))
    with registry(archive) as address:
        for integrity, accepted in [(right, True), (wrong, False)]:
            entry = {"version": "1.0.0", "integrity": integrity}
            lock = {"lockfileVersion": 3, "requires": True, "packages": {"": manifest, "node_modules/tiny": entry}}
            (tmp_path / "package-lock.json").write_text(json.dumps(lock))
            install = npm(*INSTALL, "--fetch-retries=0", f"--registry={address}", f"--cache={tmp_path / 'cache'}")
            done = subprocess.run(install, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
            assert (done.returncode == 0) is accepted, done.stderr
            assert accepted or "EINTEGRITY" in done.stderr
