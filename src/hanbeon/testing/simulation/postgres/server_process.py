"""A PostgreSQL server of one run, over a copy of the template's files: it ends with the process that started it."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hanbeon.testing.simulation.postgres.wire import PlainConnection

USER = "hanbeon"
DATABASE = "hanbeon"
SOCKET = ".s.PGSQL.5432"
_PATIENCE = 60.0
_PARENT_DEATH = 1
# Whatever the server does by itself, at a time of its own, would differ from run to run.
_CONFIGURATION = """
listen_addresses = ''
port = 5432
autovacuum = off
fsync = off
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
checkpoint_timeout = 1d
max_wal_size = 2GB
bgwriter_lru_maxpages = 0
shared_buffers = 32MB
max_connections = 200
max_parallel_workers = 0
max_logical_replication_workers = 0
deadlock_timeout = 1ms
jit = off
log_min_messages = fatal
"""


@dataclass(frozen=True)
class Programs:
    """Those of an installation, and who runs them: PostgreSQL does not run as root."""

    folder: Path
    user: int | None = None
    group: int | None = None

    def initialize(self, data: Path) -> None:
        """Make the files of a new server."""
        self._run("initdb", f"--pgdata={data}", f"--username={USER}", "--auth=trust", "--encoding=UTF8", "--locale=C")
        with (data / "postgresql.conf").open("a") as configuration:
            configuration.write(_CONFIGURATION)

    def give(self, path: Path) -> None:
        """Make who runs the server the owner of these files."""
        if self.user is not None and self.group is not None:
            for each in (path, *path.rglob("*")):
                os.chown(each, self.user, self.group)

    @contextmanager
    def server(self, data: Path, sockets: Path, *, is_kept: bool = False) -> Iterator[None]:
        """Run a server over these files. `is_kept`: they are used again afterwards."""
        process = subprocess.Popen(
            [self.folder / "postgres", "-D", data, "-k", sockets],
            stdout=subprocess.DEVNULL,
            stderr=(sockets / "server.log").open("w"),
            cwd=sockets,
            preexec_fn=_end_with_parent,  # noqa: PLW1509 - the process of a run has no threads
            **self._identity,
        )
        try:
            _wait_until_ready(process, sockets)
            yield
        finally:
            process.send_signal(signal.SIGINT if is_kept else signal.SIGQUIT)
            process.wait(_PATIENCE)

    def _run(self, program: str, *arguments: str) -> None:
        more = ["--no-sync", "--wal-segsize=1"]
        done = subprocess.run(
            [self.folder / program, *arguments, *more], check=False, capture_output=True, text=True, **self._identity
        )
        if done.returncode != 0:
            raise RuntimeError(f"{program} failed: {done.stdout}{done.stderr}")

    @property
    def _identity(self) -> dict[str, Any]:
        if self.user is None:
            return {}
        return {"user": self.user, "group": self.group, "extra_groups": []}


def copy_files(programs: Programs, template: Path, data: Path) -> None:
    shutil.copytree(template, data, symlinks=True)
    programs.give(data)
    data.chmod(0o700)


def _end_with_parent() -> None:
    # A run that hangs is killed, and its server must not stay.
    ctypes.CDLL(None).prctl(_PARENT_DEATH, signal.SIGQUIT)


def _wait_until_ready(process: subprocess.Popen[bytes], sockets: Path) -> None:
    ends_at = time.monotonic() + _PATIENCE
    while True:
        try:
            return PlainConnection(sockets / SOCKET, USER, "postgres").close()
        except (OSError, RuntimeError):
            if process.poll() is not None or time.monotonic() > ends_at:
                log = (sockets / "server.log").read_text()[-2000:]
                raise RuntimeError(f"PostgreSQL did not start: {log}") from None
            time.sleep(0.005)
