"""The command line as a user has it: the installed script, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = str(Path(sys.executable).with_name("hanbeon"))
EXAMPLES = Path(__file__).parents[2] / "examples"


def environment(**more: str) -> dict[str, str]:
    """What a process gets: nothing of ours that this run was started with, and a terminal of a known width."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HANBEON_")}
    return {**inherited, "COLUMNS": "120", "LINES": "40", "NO_COLOR": "1", "PYTHONWARNINGS": "default", **more}


def hanbeon(
    *arguments: str, cwd: Path | None = None, timeout: float = 60, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [SCRIPT, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=cwd,
        env=environment(**more),
    )
