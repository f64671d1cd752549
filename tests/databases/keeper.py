"""Keeps one server process: reaps it when it ends, and ends it when its owner has died without doing so.

Run as a program, it detaches itself and becomes the parent of the server. So a killed test run leaves no
server behind, and the end of a server leaves no zombie in whichever process happened to start it.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import psutil

_POLL = 0.5
_PATIENCE = 10.0


class Charge(NamedTuple):
    """Arguments of a keeper: the command to run, its account, its owner and its folder."""

    command: list[str]
    uid: int | None
    gid: int | None
    owner: int
    folder: str
    log: str
    exit_file: str


def start(charge: Charge) -> None:
    """Launch a keeper; returns once it has detached, which is before its server is ready."""
    subprocess.run([sys.executable, __file__, json.dumps(charge)], check=True, stdin=subprocess.DEVNULL)


def _keep(charge: Charge) -> None:
    with open(charge.log, "ab") as log:
        server = subprocess.Popen(
            charge.command,
            cwd=charge.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            user=charge.uid,
            group=charge.gid,
            extra_groups=None if charge.uid is None else [],
        )
    while _alive(charge.owner):
        try:
            code = server.wait(_POLL)
        except subprocess.TimeoutExpired:
            continue
        Path(charge.exit_file).write_text(str(code))
        return
    server.send_signal(signal.SIGQUIT)
    try:
        server.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    shutil.rmtree(charge.folder, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def main() -> None:
    charge = Charge(*json.loads(sys.argv[1]))
    if os.fork():
        os._exit(0)
    os.setsid()
    # The process that started us may be waiting for the end of a pipe that we inherited.
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    _keep(charge)


if __name__ == "__main__":
    main()
