"""Runs our HTTP server, with an office in it, for a measurement."""

from __future__ import annotations

import json
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench import processes
from bench.processes import ProcessGroup, ProgramError
from bench.requests import HANDLER
from bench.rig import Rig

_TIMEOUT, _PROGRAM_TIMEOUT = 60.0, 600.0


class Service(NamedTuple):
    """A running server and an office in it."""

    url: str
    office: str


@contextmanager
def running_server(
    rig: Rig, database: str, *options: str, settings: Mapping[str, str] = {}
) -> Iterator[tuple[str, ProcessGroup]]:
    """Run `hanbeon serve` for the block; yield its URL and its process. `settings` are environment variables."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    script = str(Path(sys.executable).with_name("hanbeon"))
    command = [script, "serve", "--app", "bench.adapters.ours:app", "--port", str(port), *options]
    environment = {**rig.environment(database), "HANBEON_DATABASE_URL": database, **settings}
    with processes.group([command], environment, rig.folder / "server.log") as group:
        url = f"http://127.0.0.1:{port}"
        _until_ready(url, group)
        yield url, group


@contextmanager
def serving(rig: Rig, database: str) -> Iterator[Service]:
    """Run a server without a worker, so that only the requests are measured."""
    with running_server(rig, database, "--no-worker") as (url, _):
        body = json.dumps({"name": "bench", "sessions": {"default": HANDLER}}).encode()
        with urllib.request.urlopen(f"{url}/api/offices", body, timeout=_TIMEOUT) as answer:
            yield Service(url, json.load(answer)["id"])


def run_requests(rig: Rig, database: str, service: Service, command: str, number: int) -> dict[str, float]:
    """Run `bench.requests` against the server and return its measurements."""
    program = [sys.executable, "-m", "bench.requests", command, *service, str(number)]
    found: dict[str, float] = json.loads(processes.run(program, rig.environment(database), _PROGRAM_TIMEOUT))
    return found


def _until_ready(url: str, group: ProcessGroup) -> None:
    end = time.monotonic() + _TIMEOUT
    while time.monotonic() < end:
        group.check()
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=_TIMEOUT):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    raise ProgramError(f"the server was not ready after {_TIMEOUT:.0f} s")
