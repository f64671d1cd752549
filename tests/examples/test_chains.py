"""Booking a journey, as its page says: the commands of the page, and the walk that it shows."""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
import signal
from pathlib import Path

from tests.cli.hanbeon import EXAMPLES, hanbeon
from tests.cli.workers import Running


async def test_journey_is_undone_as_the_page_shows(tmp_path: Path) -> None:
    folder = tmp_path / "chains"
    shutil.copytree(EXAMPLES / "chains", folder, ignore=shutil.ignore_patterns("*.db*", "__pycache__"))
    page = (folder / "README.md").read_text()
    commands = re.findall(r"^hanbeon (chain [^#\n]*)", page, re.MULTILINE)
    (shown,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    with Running("serve", "--config", str(folder / "hanbeon.toml"), "--port", "0", cwd=tmp_path) as running:
        await asyncio.to_thread(running.until, "server_started")
        done = [await asyncio.to_thread(hanbeon, *shlex.split(command), cwd=folder) for command in commands]
        running.process.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(running.process.wait, 60) == 0
    assert [each.returncode for each in done] == [0, 0, 0, 0, 1], done
    assert done[-1].stdout == shown
