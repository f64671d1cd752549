"""The supervisor's own program: its imports, and any program as the leader of a session."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator

import psutil
import pytest

from hanbeon.executors.sessions import End
from hanbeon.executors.supervisor import processes
from hanbeon.executors.supervisor_client import ROOT, SupervisorClient
from tests.executors.workbench import alive, until
from tests.storm.sizes import SLACK

ENVIRONMENT = {"PATH": os.environ["PATH"]}


@pytest.fixture
async def supervisor() -> AsyncIterator[SupervisorClient]:
    made = SupervisorClient()
    yield made
    await made.close()


def test_it_loads_the_standard_library_alone() -> None:
    program = (
        f"import sys; sys.path.append({ROOT!r}); import hanbeon.executors.supervisor.main;"
        "print(*(name for name, module in sys.modules.items() if name.startswith('hanbeon')"
        "or 'site-packages' in str(getattr(module, '__file__', ''))))"
    )
    loaded = subprocess.check_output([sys.executable, "-I", "-S", "-c", program], text=True).split()
    assert set(loaded) <= {"hanbeon", "hanbeon.executors", "hanbeon.executors.supervisor"} | {
        f"hanbeon.executors.supervisor.{name}"
        for name in ("kernel", "leader", "main", "processes", "session_supervisor", "wire")
    }


async def ended(supervisor: SupervisorClient, *argv: str, stop: float | None = None, **options: object) -> End:
    future: asyncio.Future[End] = asyncio.get_running_loop().create_future()
    session = supervisor.start(argv, env=ENVIRONMENT, gone=future.set_result, **options)  # type: ignore[arg-type]
    if stop is not None:
        await until("it runs", lambda: session.leader)
        session.stop(stop)
    async with asyncio.timeout(10):
        return await future


def _read(descriptor: int) -> str:
    with open(descriptor) as file:
        return file.read()


async def test_any_program_can_lead_a_session(supervisor: SupervisorClient) -> None:
    read, write = os.pipe()
    end = await ended(supervisor, "sh", "-c", "echo $HANBEON_SESSION; pwd", descriptors={1: write}, cwd="/")
    assert os.waitstatus_to_exitcode(end.status or 0) == 0
    marker, folder = _read(read).split()
    assert len(marker) == 32
    assert folder == "/"


@pytest.mark.parametrize("program", ["/nowhere/at/all", "no-such-program", "/etc/passwd"])
async def test_a_program_that_cannot_be_run_is_told(supervisor: SupervisorClient, program: str) -> None:
    end = await ended(supervisor, program)
    assert end.status is None
    assert str(end).startswith("cannot be started: [Errno ")
    assert program in str(end)


async def test_a_program_inherits_no_descriptor_and_no_ignored_signal(supervisor: SupervisorClient) -> None:
    read, write = os.pipe()
    program = "import os, signal; print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1]);"
    program += "print([s for s in signal.Signals if signal.getsignal(s) is signal.SIG_IGN and s.name != 'SIGXFSZ'])"
    await ended(supervisor, sys.executable, "-S", "-c", program, descriptors={1: write})
    descriptors, ignored = _read(read).splitlines()
    assert descriptors == "[0, 1, 2]"
    assert ignored == "[<Signals.SIGPIPE: 13>]", "Python itself ignores that one"


async def test_a_limit_holds_for_the_program(supervisor: SupervisorClient) -> None:
    read, write = os.pipe()
    await ended(supervisor, "sh", "-c", "ulimit -n", descriptors={1: write}, limits={"NOFILE": 77})
    assert _read(read) == "77\n"


async def test_a_polite_program_is_not_killed(supervisor: SupervisorClient) -> None:
    began_at = time.monotonic()
    end = await ended(supervisor, "sleep", "3600", stop=30.0)
    assert time.monotonic() - began_at < 25
    assert (str(end), end.by) == ("was killed by SIGTERM", "stop")


async def test_ends_with_its_parent_despite_a_copied_socket() -> None:
    """Whatever the engine's process forks holds a copy of it."""
    program = (
        "import asyncio, os, sys, time\n"
        "from hanbeon.executors.supervisor_client import SupervisorClient\n"
        "async def main():\n"
        "    supervisor = SupervisorClient()\n"
        "    session = supervisor.start(['sleep', '3600'], env=os.environ, gone=print)\n"
        "    while session.leader is None: await asyncio.sleep(0.01)\n"
        "    if os.fork() == 0: time.sleep(60)\n"
        "    print(session.leader, supervisor.pid, flush=True)\n"
        "    time.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    engine = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session=True, text=True
    )
    try:
        assert engine.stdout is not None
        leader, supervisor = map(int, engine.stdout.readline().split())
        engine.kill()
        await until("both are dead", lambda: not alive(leader) and not alive(supervisor), 1 + SLACK)
    finally:
        os.killpg(engine.pid, signal.SIGKILL)
        engine.wait()
        assert engine.stdout is not None
        engine.stdout.close()


def test_processes_are_read_from_the_kernel() -> None:
    child = subprocess.Popen(["sleep", "3600"], env={"HANBEON_SESSION": "of-this-test"})
    try:
        found = processes.read_process(child.pid)
        assert found is not None
        assert (found.parent, found.is_zombie) == (os.getpid(), False)
        assert found in processes.descendants(os.getpid())
        assert processes.has_living_children(os.getpid())
        assert not processes.has_living_children(os.getpid(), besides=child.pid) or len(psutil.Process().children()) > 1
        assert processes.marked("of-this-test", None) == [found]
        processes.send(found._replace(started=found.started + 1), signal.SIGKILL)
        assert child.poll() is None, "another process of the same number is left alone"
        processes.send(found, signal.SIGKILL)
        assert child.wait(10) == -signal.SIGKILL
        assert processes.read_process(child.pid) is None
    finally:
        child.kill()
        child.wait()
