"""Clean environments with the built wheel, from the versions of constraints.txt and pip as the machine has it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.absence import unavailable
from tests.cli.hanbeon import environment
from tools.pins import ROOT

_OLDEST = (3, 11)
_SECONDS = 900


def pythons() -> list[str]:
    """Return one interpreter of each minor version from 3.11 on: this one first, then those on PATH and of pyenv."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = {sys.version_info[:2]: sys.executable}
    on_path = [shutil.which(f"python3.{minor}") for minor in range(_OLDEST[1], _OLDEST[1] + 10)]
    for python in [*on_path, *map(str, sorted(root.glob("versions/3.*/bin/python")))]:
        version = _version(python) if python else None
        if python and version and version >= _OLDEST:
            found.setdefault(version, python)
    return list(found.values())


def _version(python: str) -> tuple[int, int] | None:
    command = [python, "-c", "import sys, venv, ensurepip; print(*sys.version_info[:2])"]
    # A shim of pyenv for a version that is not chosen here fails.
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=_SECONDS)
    if done.returncode:
        return None
    major, minor = done.stdout.split()
    return int(major), int(minor)


class Environment:
    """A virtual environment of its own, and a folder for what is run in it."""

    def __init__(self, folder: Path, python: str, wheel: Path, extra: str | None) -> None:
        self.bin = folder / "environment/bin"
        self.folder = folder / "work"
        self.folder.mkdir(parents=True)
        self._wheel, self._interpreter = wheel, python
        # Half of what an environment costs is its own pip, which ours installs just as well without.
        subprocess.run([python, "-m", "venv", "--without-pip", str(self.bin.parent)], check=True, timeout=_SECONDS)
        # Versions without hashes: the wheel itself has none in the list.
        self._pins = folder / "pins.txt"
        self._pins.write_text(re.sub(r" \\\n( +--hash=\S+( \\)?\n)+", "\n", (ROOT / "constraints.txt").read_text()))
        self.install(extra)

    def install(self, extra: str | None) -> None:
        """Install the wheel, or what this extra adds to it."""
        options = ["--quiet", "--no-compile", "--only-binary", ":all:", "--constraint", str(self._pins)]
        wanted = str(self._wheel) if extra is None else f"{self._wheel}[{extra}]"
        pip = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install"]
        done = _run([*pip, *options, wanted], self.folder)
        if done.returncode and "No matching distribution" in done.stderr:
            unavailable(f"the package source has no wheels for {self._interpreter}: {done.stderr[-500:]}")
        assert done.returncode == 0, done.stderr

    def hanbeon(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the program to its end."""
        return _run([str(self.bin / "hanbeon"), *arguments], self.folder, **more)

    def python(self, program: str, *arguments: str, **more: str) -> str:
        """Run a program, which must succeed, and return its output."""
        done = _run([str(self.bin / "python"), "-c", program, *arguments], self.folder, **more)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def packages(self) -> set[str]:
        """Return the installed packages, without the environment's own tools."""
        listed = self.python("import importlib.metadata as m; print(*(d.name for d in m.distributions()))").split()
        return {name.lower() for name in listed} - {"pip", "setuptools", "wheel"}


@contextlib.contextmanager
def serving(program: str | Path, folder: Path) -> Iterator[str]:
    """Run `hanbeon serve` of this program on a free port and yield its address."""
    process = subprocess.Popen(
        [str(program), "serve", "--port", "0"],
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if '"server_started"' in line:
                break
        else:
            raise AssertionError("".join(lines))
        rest = threading.Thread(target=process.stderr.read)  # So that it never waits for a reader.
        rest.start()
        try:
            yield json.loads(lines[-1])["url"]
        finally:
            process.terminate()
            rest.join(_SECONDS)


def fetch(url: str) -> str:
    """Return the body of a page."""
    with urllib.request.urlopen(url, timeout=_SECONDS) as answer:
        return str(answer.read().decode())


def _run(command: list[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in environment(**more).items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, env=clean, timeout=_SECONDS)
