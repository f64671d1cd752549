"""A virtual environment per peer in `.bench/`, created when first needed, with the versions in `bench/peers/`."""

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
_TIMEOUT = 900.0
_VERSIONS = """
import importlib.metadata, json, sys
print(json.dumps({name: importlib.metadata.version(name) for name in sys.argv[1:]}))
"""


class InstallError(Exception):
    """An environment could not be created."""


def folder(name: str) -> Path:
    """Return the folder of an environment's programs; ours is the current environment."""
    return Path(sys.executable).parent if name == OURS else HOME / "environments" / name / "bin"


def prepare(name: str) -> dict[str, str]:
    """Create an environment unless it exists, and return the versions of its main packages."""
    if name == OURS:
        return {OURS: _our_version()}
    pins = _PINS / f"{name}.txt"
    # Scripts of a virtual environment contain its path: one that was moved is created again.
    state = hashlib.sha256(f"{sys.version} {HOME}\n{pins.read_text()}".encode()).hexdigest()
    stamp = HOME / "environments" / name / "made"
    try:
        if not stamp.exists() or stamp.read_text() != state:
            run([sys.executable, "-m", "venv", "--clear", str(stamp.parent)], {}, _TIMEOUT)
            # Plain pip, because it honours the machine's configured package sources.
            pip = [str(folder(name) / "pip"), "install", "--quiet", "--disable-pip-version-check"]
            verified = ["--require-hashes", "--only-binary", ":all:", "--no-deps"]  # As `make setup` does.
            run([*pip, *verified, "--requirement", str(pins)], {}, _TIMEOUT)
            stamp.write_text(state)
        output = run([str(folder(name) / "python"), "-c", _VERSIONS, *_named(name)], {}, _TIMEOUT)
    except ProgramError as error:
        raise InstallError(f"could not be installed: {error}") from error
    versions: dict[str, str] = json.loads(output)
    return versions


def _named(name: str) -> list[str]:
    """Return the packages that the environment pins directly."""
    lines = (_PINS / f"{name}.in").read_text().split()
    return [line.partition("==")[0].partition("[")[0] for line in lines if "==" in line]


def _our_version() -> str:
    try:
        commit = run(["git", "describe", "--always", "--dirty"], {}, 10).strip()
    except (ProgramError, OSError):
        return version("hanbeon")
    return f"{version('hanbeon')} ({commit})"
