"""A small test suite of its own, run by a pytest of its own: for what the plugins of this suite do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

_ROOT = Path(__file__).parents[1]


class Told(NamedTuple):
    """How a run ended, and what it said."""

    code: int
    text: str

    @property
    def last_line(self) -> str:
        """Such as `1 passed in 0.01s`."""
        return self.text.strip().rsplit("\n", 1)[-1]


class Suite:
    """One file of tests, with some of the plugins of this suite."""

    def __init__(self, folder: Path, plugins: list[str], tests: str) -> None:
        self.folder = folder
        (folder / "conftest.py").write_text(f"pytest_plugins = {plugins!r}\n")
        (folder / "test_suite.py").write_text(tests)

    @property
    def seen(self) -> Path:
        """A file that the tests may write to: `SEEN` in their environment."""
        return self.folder / "seen"

    def run(self, *arguments: str, **environment: str) -> Told:
        # Without what says that we are a worker of pytest-xdist, or under CI; nor plugins that take seconds to load.
        inherited = {
            name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST_")
        }
        plugins = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={self.folder}"]
        done = subprocess.run(
            [*command, *arguments],
            check=False,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**inherited, **plugins, "PYTHONPATH": str(_ROOT), "SEEN": str(self.seen), **environment},
        )
        return Told(done.returncode, done.stdout)
