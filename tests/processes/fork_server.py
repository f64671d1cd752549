"""Programs of the tests as forks of a process that has imported the package already.

Importing it takes more than half a second of a core, which is most of what a worker costs that is killed a moment
later. The server opens no database, starts no thread and has no loop: a fork of it begins as a new interpreter does.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import io
import json
import os
import runpy
import select
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hanbeon.executors.supervisor.kernel import die_with_parent

ROOT = Path(__file__).parents[2]
_IS_AVAILABLE = hasattr(os, "pidfd_open")
"""On Linux. Elsewhere a process can only wait for its own children, and this one's are the server's."""
_PRELOADED = ("uvloop", "hanbeon.cli.logs", "hanbeon.cli.program", "hanbeon.server.server", "tests.processes.main")
_LARGEST = 1_000_000


class Program(NamedTuple):
    """A module to be run in a fork, as `python -u -m` would run it."""

    module: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    folder: str
    new_session: bool = False
    script: str | None = None
    """The script that does the same: in `sys.path` its folder comes first then, and not the one to run in."""


class Fork(subprocess.Popen[str]):
    """A `Popen` of such a module that is forked, and reaped, by the server."""

    def __init__(self, program: Program, **pipes: Any) -> None:
        self._program = program
        super().__init__([sys.executable, "-m", program.module, *program.arguments], text=True, **pipes)

    # What Popen calls on POSIX, in Python 3.11 to 3.13.

    def _execute_child(self, *arguments: Any) -> None:
        pipes = arguments[10:16]
        ends = [given if given != -1 else own for own, given in enumerate(pipes[i] for i in (0, 3, 5))]
        self.pid = _ask(["start", *self._program], ends)
        self._end = os.pidfd_open(self.pid)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _try_wait(self, flags: int) -> tuple[int, int]:
        if not select.select([self._end], [], [], 0 if flags == os.WNOHANG else None)[0]:
            return 0, 0
        status = _ask(["reap", self.pid])
        os.close(self._end)
        return self.pid, status

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.wait(0)
        return self.returncode


def start_program(program: Program, **pipes: Any) -> subprocess.Popen[str]:
    """Start a program: as a fork where that is possible, and where it needs no interpreter of another kind."""
    if _IS_AVAILABLE and _of_interpreter(program.environment) == _of_interpreter(os.environ):
        return Fork(program, **pipes)
    command = [sys.executable, "-u", "-m", program.module] if program.script is None else [program.script]
    return subprocess.Popen(
        [*command, *program.arguments],
        text=True,
        cwd=program.folder,
        env=program.environment,
        start_new_session=program.new_session,
        **pipes,
    )


def _of_interpreter(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what an interpreter reads when it starts, but for warnings, which a fork sees to."""
    return {
        name: value for name, value in environment.items() if name.startswith("PYTHON") and name != "PYTHONWARNINGS"
    }


@functools.cache
def _server() -> str:
    """Start the server, once for this process and until its end, and return its address."""
    address = f"hanbeon-tests-{os.getpid()}-{time.monotonic_ns()}"
    command = [sys.executable, "-u", "-m", __name__, address]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, start_new_session=True)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    server.stdout.close()
    _servers.append(server)
    return address


_servers: list[subprocess.Popen[bytes]] = []
"""Kept, since a server ends when nobody holds the other end of its standard input."""


def _ask(question: list[Any], descriptors: Sequence[int] = ()) -> int:
    """Ask the server over a connection of its own: one that a time limit interrupts disturbs no other."""
    address = _server()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(f"\0{address}")
        socket.send_fds(connection, [json.dumps(question).encode()], descriptors)
        answer = connection.recv(100)
    return int(answer)


def _serve(address: str) -> Program:
    """Serve until the owner is gone. Only a fork returns, with what it is to run; it ends with this process."""
    server = os.getpid()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(f"\0{address}")
        listener.listen(100)
        print("ready")
        while True:
            if 0 in select.select([listener.fileno(), 0], [], [])[0]:
                os._exit(0)
            connection, _ = listener.accept()
            with connection:
                message, descriptors, _, _ = socket.recv_fds(connection, _LARGEST, 3)
                kind, *arguments = json.loads(message)
                if kind == "start" and os.fork() == 0:
                    die_with_parent(server)
                    program = _become(Program(*arguments), descriptors)
                    # Only now, so that who has the answer can signal its session.
                    connection.send(str(os.getpid()).encode())
                    return program
                for each in descriptors:
                    os.close(each)
                if kind == "reap":
                    _, status = os.waitpid(arguments[0], 0)
                    with contextlib.suppress(OSError):  # Nobody waits any more.
                        connection.send(str(status).encode())


def _become(program: Program, descriptors: Sequence[int]) -> Program:
    """Make a fork what a new process would be."""
    for own, given in enumerate(descriptors):
        os.dup2(given, own)
        os.close(given)
    if program.new_session:
        os.setsid()
    os.chdir(program.folder)
    os.environ.clear()
    os.environ.update(program.environment)
    time.tzset()
    if action := program.environment.get("PYTHONWARNINGS"):
        warnings.simplefilter(action)  # type: ignore[arg-type]
    sys.path[0] = program.folder if program.script is None else os.path.dirname(program.script)
    sys.argv[1:] = program.arguments
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # type: ignore[misc]  # noqa: SIM115
    sys.stdout = sys.__stdout__ = _unbuffered(1)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _unbuffered(2)  # type: ignore[misc]
    return program


def _unbuffered(descriptor: int) -> io.TextIOWrapper[Any]:
    return io.TextIOWrapper(io.FileIO(descriptor, "w", closefd=False), "utf-8", write_through=True)


if __name__ == "__main__":
    for name in _PRELOADED:
        importlib.import_module(name)
    # What is loaded stays: otherwise each fork would walk, and thereby copy, all of it with its first collections.
    gc.collect()
    gc.freeze()
    program = _serve(sys.argv[1])
    runpy.run_module(program.module, run_name="__main__", alter_sys=True)
