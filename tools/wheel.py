"""Build the wheel with the dashboard in it. As a program: into `dist/`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tools.pins import ROOT

PAGE = ("index.html", "app.js", "app.css")
_FOLDER = "hanbeon/server/page/dashboard"


def build(folder: Path) -> Path:
    """Build the wheel into a folder and return its path. Raises RuntimeError if the dashboard is not in it."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", place]
        subprocess.run(command, check=True, cwd=ROOT, stdout=sys.stderr)
        (wheel,) = Path(place).glob("*.whl")
        check(wheel)
        return wheel.replace(folder / wheel.name)


def check(wheel: Path) -> None:
    """Raise RuntimeError if a wheel lacks a part of the dashboard: it is built without where npm is out of reach."""
    names = set(zipfile.ZipFile(wheel).namelist())
    missing = [name for name in PAGE if f"{_FOLDER}/{name}" not in names]
    if not any(name.startswith(f"{_FOLDER}/chunks/") for name in names):
        missing.append("chunks/")
    if missing:
        raise RuntimeError(
            f"{wheel.name} must contain the dashboard, {', '.join(missing)} is missing; is npm reachable?"
        )


def main() -> int:
    try:
        print(build(ROOT / "dist"))
    except (RuntimeError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
