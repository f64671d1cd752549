"""`hanbeon worker --reload`: a worker that is restarted when its code changes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from hanbeon.config.file import find

OPTION = "--reload"
_POLL_SECONDS = 0.5
_NOT_SEARCHED = frozenset(("__pycache__", "node_modules", "site-packages"))
_STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
Files = Mapping[str, tuple[int, int]]


def run_reloading(arguments: Sequence[str], config: Path | None) -> int:
    """Run a worker with these arguments, and another after each change; return the exit code of the last.

    A worker is stopped as SIGTERM stops any: running jobs may finish within `shutdown_grace`, and the rest is handed
    back without using up a retry. One that ended by an error is started again by the next change.
    """
    command = [sys.executable, "-m", "hanbeon", *(each for each in arguments if each != OPTION)]
    stopping: list[int] = []
    worker: subprocess.Popen[bytes] | None = None

    def forward(number: int, frame: Any) -> None:
        stopping.append(number)
        if worker is not None and worker.poll() is None:
            worker.send_signal(signal.SIGTERM)

    for each in _STOPS:
        signal.signal(each, forward)
    while True:
        before = _files(config)
        # A group of its own: Ctrl-C reaches it by way of this process, once.
        worker = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
        changed = _wait(worker, before, config, stopping)
        if changed and not stopping:
            typer.echo(f"{changed} has changed: the worker restarts", err=True)
            worker.send_signal(signal.SIGTERM)
        code = worker.wait()
        if stopping or (code == 0 and not changed):
            return code
        if not changed:
            typer.echo(f"the worker ended with exit code {code}; it starts again when a file changes", err=True)
            while not (stopping or _changed(before, _files(config))):
                time.sleep(_POLL_SECONDS)
            if stopping:
                return code


def _wait(worker: subprocess.Popen[bytes], before: Files, config: Path | None, stopping: Sequence[int]) -> str | None:
    """Wait until the worker ends or a file changes; return its name."""
    while worker.poll() is None and not stopping:
        if changed := _changed(before, _files(config)):
            return changed
        time.sleep(_POLL_SECONDS)
    return None


def _changed(before: Files, after: Files) -> str | None:
    return next((name for name in sorted({*before, *after}) if before.get(name) != after.get(name)), None)


def _files(config: Path | None) -> Files:
    """Return what tells that a file was written, of the Python files below this folder and of hanbeon.toml."""
    found = {}
    file = find(config)
    for path in (*_python_files(Path()), *([] if file is None else [file])):
        try:
            status = path.stat()
        except OSError:  # It was deleted just now.
            continue
        found[str(path)] = (status.st_mtime_ns, status.st_size)
    return found


def _python_files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        # Neither hidden folders nor environments: thousands of files that nobody edits.
        folders[:] = [
            name
            for name in folders
            if name not in _NOT_SEARCHED and not name.startswith(".") and not Path(parent, name, "pyvenv.cfg").exists()
        ]
        yield from (Path(parent, name) for name in names if name.endswith(".py"))
