"""Bodies for worker processes, which find them by module and name. They tell through journals, not the database."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from hanbeon import App, PermanentError, SoftTimeout, SyncContext, TaskError
from hanbeon.errors import LeaseLost
from hanbeon.tasks.context import PutOffRequest
from tests.storm.journal import write_line

app = App()
FOREVER = 3600.0


@app.task(executor="process")
def add(a: int, b: int = 0) -> int:
    return a + b


@app.task(executor="process")
def whoami() -> int:
    return os.getpid()


@app.task(executor="process")
def whoami_at_last(gate: str) -> int:
    while not os.path.exists(gate):
        time.sleep(0.005)
    return os.getpid()


@app.task(executor="process")
def sleep(seconds: float = FOREVER) -> None:
    time.sleep(seconds)


@app.task(executor="process")
def end(how: str) -> Any:
    match how:
        case "exit":
            os._exit(3)
        case "segfault":
            return os.kill(os.getpid(), signal.SIGSEGV)
        case "system exit":
            sys.exit(3)
        case "value":
            raise ValueError("x")
        case "task":
            raise TaskError("x", failure_type="git_conflict")
        case "permanent":
            raise PermanentError("x")
        case "permission":
            raise PermissionError(13, "denied")
        case "put off":
            raise PutOffRequest(1.5, "later")
        case "nul and half a pair":
            raise ValueError("\x00 \udc80")
        case "unwritable":
            return {1, threading.Lock()}
        case "large":
            return "x" * 2_000
        case "unprintable":
            raise Unprintable
        case _:
            raise AssertionError(how)


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@app.task(executor="process")
def untidy() -> str:
    """Leaves the process other than it was."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    before = os.getcwd()
    os.chdir("/")
    return before


# What does not want to end. Each process tells its number: `began`, or `child`.

_STRAY = (
    "import os, signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "{leave}"
    "open(sys.argv[1], 'a').write(f'child {{os.getpid()}}\\n'); time.sleep(3600)"
)
LEAVES = {
    "plain": "",
    "session": "os.setsid();",
    "daemon": "os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0);",
}


@app.task(executor="process")
def stubborn(journal: str, kind: str = "plain", clean: bool = False) -> None:
    """Ignores SIGTERM, and so does its grandchild; that may leave the session, and forget its environment."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    program = _STRAY.format(leave=LEAVES[kind])
    subprocess.Popen([sys.executable, "-S", "-c", program, journal], env={} if clean else None)
    write_line(journal, f"began {os.getpid()}")
    while True:
        time.sleep(FOREVER)


@app.task(executor="process")
def busy(journal: str) -> None:
    """Inside C for hours, where no handler of Python runs."""
    write_line(journal, f"began {os.getpid()}")
    sum(range(10**13))


@app.task(executor="process")
def backtrack(journal: str) -> None:
    write_line(journal, f"began {os.getpid()}")
    re.match(r"(a+)+$", "a" * 60 + "b")


@app.task(executor="process")
def asleep(journal: str) -> None:
    write_line(journal, f"began {os.getpid()}")
    time.sleep(FOREVER)


@app.task(executor="process")
def restoring(journal: str) -> None:
    """Has a handler for a while, as some libraries do."""
    signal.signal(signal.SIGTERM, signal.signal(signal.SIGTERM, signal.SIG_IGN))
    write_line(journal, f"began {os.getpid()}")
    time.sleep(FOREVER)


@app.task(executor="process")
def frozen(journal: str) -> None:
    write_line(journal, f"began {os.getpid()}")
    while True:
        os.kill(os.getpid(), signal.SIGSTOP)


@app.task(executor="process")
def tidying(journal: str) -> None:
    """Has a handler of its own, which lets its `finally` run."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
    try:
        write_line(journal, f"began {os.getpid()}")
        time.sleep(FOREVER)
    finally:
        write_line(journal, "tidied")


_TIDYING_CHILD = (
    "import os, signal, sys, time\n"
    "say = lambda line: open(sys.argv[1], 'a').write(line + '\\n')\n"
    "signal.signal(signal.SIGTERM, lambda *_: (say('tidied'), os._exit(0)))\n"
    "say(f'child {os.getpid()}')\n"
    "time.sleep(3600)"
)


@app.task(executor="process")
def parent(journal: str) -> None:
    write_line(journal, f"began {os.getpid()}")
    subprocess.run([sys.executable, "-S", "-c", _TIDYING_CHILD, journal], check=True)


@app.task(executor="process")
def printing(journal: str) -> None:
    print("printed before the stop")
    write_line(journal, f"began {os.getpid()}")
    time.sleep(FOREVER)


class _UntilStopped:
    """A stream whose flush, which comes after the body, returns when a SIGTERM has arrived."""

    def __init__(self, journal: str) -> None:
        self._journal = journal
        self._arrived, wakes = os.pipe()
        os.set_blocking(wakes, False)
        signal.set_wakeup_fd(wakes)

    def flush(self) -> None:
        sys.stdout = sys.__stdout__
        write_line(self._journal, f"began {os.getpid()}")
        os.read(self._arrived, 1)


@app.task(executor="process")
def reporting(journal: str) -> str:
    """Returns, and is stopped before its result is sent."""
    sys.stdout = _UntilStopped(journal)
    return "kept"


@app.task(executor="process")
def leaves_behind(journal: str, kind: str) -> str:
    """Returns, but something that it started goes on."""
    program = _STRAY.format(leave=LEAVES[kind])
    process = subprocess.Popen([sys.executable, "-S", "-c", program, journal])
    while not os.path.exists(journal):
        time.sleep(0.005)
    process.returncode = 0  # Or Python complains that nobody waits for it.
    return "returned"


# What the context offers


@app.task(executor="process")
def facts(ctx: SyncContext) -> list[Any]:
    return [ctx.job_id, ctx.queue, ctx.attempt, ctx.fence, ctx.retry_count, ctx.idempotency_key, ctx.stopping]


@app.task(executor="process")
def cooperative(ctx: SyncContext, journal: str) -> str:
    write_line(journal, f"began {os.getpid()}")
    while not ctx.stopping:
        time.sleep(0.005)
    return "in peace"


@app.task(executor="process")
def cooperative_in_a_thread(ctx: SyncContext, journal: str) -> str:
    """Only its other thread looks."""
    stopping = threading.Event()

    def look() -> None:
        while not ctx.stopping:
            write_line(journal, f"began {os.getpid()}")
            time.sleep(0.005)
        stopping.set()

    threading.Thread(target=look).start()
    stopping.wait()
    return "in peace"


@app.task(executor="process")
def noting(ctx: SyncContext, value: Any) -> str:
    try:
        ctx.progress(value)
    except LeaseLost as error:
        return f"{error.job_id} {error.fence}"
    return "noted"


@app.task(executor="process")
def bearing(ctx: SyncContext, children: int) -> list[str]:
    return [ctx.enqueue(add.call(number)) for number in range(children)]


@app.task(executor="process")
def bearing_in_vain(ctx: SyncContext) -> None:
    ctx.enqueue(add.call(1))
    if ctx.attempt == 1:
        raise ConnectionError("as asked")


@app.task(executor="process")
def transacting(ctx: SyncContext) -> None:
    ctx.transaction()


@app.task(executor="process")
def descriptors() -> list[int]:
    return sorted(map(int, os.listdir("/proc/self/fd")))


@app.task(executor="process")
def closing(what: str) -> str:
    for descriptor in (0, 1, 2):
        if what == "write":
            os.write(1, b"\xff\x00 what a protocol would choke on\n")
        else:
            os.close(descriptor)
    return what


@app.task(executor="process", memory="256MB")
def greedy(megabytes: int) -> int:
    return len(bytearray(megabytes * 1_000_000))


@app.task(executor="process")
def hostile(data: bytes) -> None:
    """Finds the channel and says what it should not."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) >= 200:
            os.write(int(name), data)
    time.sleep(FOREVER)


@app.task(executor="process")
def unwaited() -> None:
    """A zombie, unless somebody waits for it."""
    process = subprocess.Popen(["true"])
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT) is None:
        pass
    process.returncode = 0


@app.task(executor="process")
def saying(ctx: SyncContext, words: list[str]) -> None:
    for word in words:
        ctx.log(word)


@app.task(executor="process")
def flooding(ctx: SyncContext, lines: int) -> None:
    for number in range(1, lines + 1):
        ctx.log(f"line {number}")


@app.task(executor="process")
def gossiping(ctx: SyncContext) -> int:
    """Leaves threads that go on talking, and has a fork that tries to."""

    def talk() -> None:
        while not ctx.stopping:
            ctx.log("and another thing")

    for _ in range(3):
        threading.Thread(target=talk, daemon=True).start()
    if os.fork() == 0:
        ctx.log("from a fork")
        os._exit(0)
    os.wait()
    return os.getpid()


@app.task(executor="process")
def speaking(ctx: SyncContext, name: str) -> None:
    print("printed by", name)
    print("complained by", name, file=sys.stderr)
    logging.getLogger("shop").warning("logged by %s", name)
    ctx.log(f"thread of {name}")


@app.task(executor="process")
def wait_softly(ctx: SyncContext, catches: bool) -> list[object]:
    try:
        time.sleep(FOREVER)
    except SoftTimeout:
        if not catches:
            raise
    return ["warned", ctx.soft_timeout_passed]
