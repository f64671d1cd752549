"""A virtual environment per peer under `.bench/`, made when it is first needed, at the versions of `bench/peers/`."""

from __future__ import annotations

import hashlib
import json
import sys
from importlib.metadata import version
from pathlib import Path

from bench.processes import ProgramError, run
from bench.records import HOME, ROOT

OURS = "hanbeon"
_PINS = ROOT / "bench" / "peers"
_PATIENCE = 900.0
_VERSIONS = """
import importlib.metadata, json, sys
print(json.dumps({name: importlib.metadata.version(name) for name in sys.argv[1:]}))
"""


class InstallError(Exception):
    """An environment could not be made."""


def folder(name: str) -> Path:
    """Where the programs of an environment are; ours is the one we run in."""
    return Path(sys.executable).parent if name == OURS else HOME / "environments" / name / "bin"


def prepare(name: str) -> dict[str, str]:
    """Make it, unless it is there already; the versions of what it was made for."""
    if name == OURS:
        return {OURS: _our_version()}
    pins = _PINS / f"{name}.txt"
    # Scripts of a virtual environment name its folder: one that was moved is made again.
    state = hashlib.sha256(f"{sys.version} {HOME}\n{pins.read_text()}".encode()).hexdigest()
    stamp = HOME / "environments" / name / "made"
    try:
        if not stamp.exists() or stamp.read_text() != state:
            run([sys.executable, "-m", "venv", "--clear", str(stamp.parent)], {}, _PATIENCE)
            # Plain pip, because it honours whatever package sources the machine has configured.
            pip = [str(folder(name) / "pip"), "install", "--quiet", "--disable-pip-version-check"]
            run([*pip, "--requirement", str(pins)], {}, _PATIENCE)
            stamp.write_text(state)
        answer = run([str(folder(name) / "python"), "-c", _VERSIONS, *_named(name)], {}, _PATIENCE)
    except ProgramError as error:
        raise InstallError(f"could not be installed: {error}") from error
    versions: dict[str, str] = json.loads(answer)
    return versions


def _named(name: str) -> list[str]:
    """The packages that the environment was asked for by name and version."""
    lines = (_PINS / f"{name}.in").read_text().split()
    return [line.partition("==")[0].partition("[")[0] for line in lines if "==" in line]


def _our_version() -> str:
    try:
        commit = run(["git", "describe", "--always", "--dirty"], {}, 10).strip()
    except (ProgramError, OSError):
        return version("hanbeon")
    return f"{version('hanbeon')} ({commit})"
