"""Bodies that do whatever a body can do to the worker it runs in, short of ending its process."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

from hanbeon import App, Context, SyncContext, TaskError
from hanbeon.tasks.context import PutOffRequest

FOREVER = 3600.0


class OddZone(dt.tzinfo):
    def utcoffset(self, moment: dt.datetime | None) -> dt.timedelta:
        raise KeyError("zone")

    def dst(self, moment: dt.datetime | None) -> None:
        return None

    def tzname(self, moment: dt.datetime | None) -> str:
        return "odd"


class Unshowable(TaskError):
    failure_type = property(lambda self: 1 / 0)

    def __str__(self) -> str:
        raise SystemExit(7)


class Evil(str):
    def __getitem__(self, key: Any) -> str:
        raise KeyError(key)

    def replace(self, *args: Any) -> str:
        raise KeyError

    encode = replace  # type: ignore[assignment]


def nested(levels: int) -> Any:
    value: Any = None
    for _ in range(levels):
        value = [value]
    return value


def circle() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


ERRORS: dict[str, Callable[[], BaseException]] = {
    "unshowable": lambda: Unshowable("x"),
    "huge": lambda: ValueError("x" * 200_000),
    "surrogate": lambda: ValueError("\ud800\x00"),
    "evil": lambda: ValueError(Evil("x")),
    "evil type": lambda: TaskError(Evil("x"), failure_type=Evil("y")),
    "interrupt": KeyboardInterrupt,
    "exit": lambda: SystemExit(Evil("x")),
    "generator exit": GeneratorExit,
    "cancelled": asyncio.CancelledError,
    "stop": StopIteration,
    "memory": MemoryError,
    "recursion": lambda: RecursionError("x"),
    "group": lambda: BaseExceptionGroup("g", [SystemExit(1), KeyboardInterrupt()]),
    "put off": lambda: PutOffRequest(float("nan"), "x"),
    "base": lambda: BaseException("base"),
}
RESULTS: dict[str, Callable[[], Any]] = {
    "zone": lambda: dt.datetime(2026, 1, 1, tzinfo=OddZone()),
    "object": object,
    "nan": lambda: [float("nan")],
    "deep": lambda: nested(970),
    "deeper": lambda: nested(100_000),
    "circle": circle,
    "raw": lambda: msgspec.Raw(b"[[["),
    "generator": lambda: (each for each in "ab"),
    "too large": lambda: "x" * 2_000_000,
    "digits": lambda: 10**5_000,
    "surrogate": lambda: ["\ud800"],
    "nul": lambda: "\x00",
    "function": lambda: nested,
}


def end(how: str) -> Any:
    kind, _, name = how.partition(": ")
    if kind == "raise":
        raise ERRORS[name]()
    return RESULTS[name]()


ENDS = [*(f"raise: {name}" for name in ERRORS), *(f"return: {name}" for name in RESULTS)]
app = App()


@app.task(retries=0)
async def in_loop(how: str) -> Any:
    return end(how)


@app.task(retries=0)
def in_thread(how: str) -> Any:
    return end(how)


@app.task(retries=0, executor="process")
def in_process(how: str) -> Any:
    return end(how)


async def _explode(error: BaseException) -> None:
    await asyncio.sleep(0)
    raise error


def _raise(error: BaseException) -> None:
    raise error


@app.task(retries=0, timeout=60)
async def misuse(ctx: Context, how: str) -> None:
    """Misuse of the event loop and of the context."""
    loop = asyncio.get_running_loop()
    match how:
        case "child":
            await asyncio.create_task(_explode(SystemExit(3)))
        case "group":
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_explode(KeyboardInterrupt()))
                tasks.create_task(asyncio.sleep(FOREVER))
        case "callback":
            loop.call_soon(_raise, SystemExit(3))
            await asyncio.sleep(FOREVER)
        case "timer":
            loop.call_later(0.001, _raise, KeyboardInterrupt())
            await asyncio.sleep(FOREVER)
        case "cancel itself":
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(0)
        case "left behind":
            loop.call_later(0.05, _raise, SystemExit(3))
            asyncio.create_task(_use_later(ctx)).add_done_callback(lambda task: task.exception())
        case "progress":
            await ctx.progress(nested(500))
        case "nan":
            await ctx.progress(float("nan"))
        case "log":
            ctx.log("\ud800 \x00 \x1b[2J" + "x" * 300_000 + "\n\r\v\f" * 100)
        case "bad child":
            await ctx.enqueue(in_loop.call("raise: exit").set(queue="q" * 1_000))
        case "no request":
            await ctx.enqueue("in_loop")  # type: ignore[arg-type]
        case "no text":
            ctx.log(object())  # type: ignore[arg-type]
        case "retry":
            ctx.retry_in("soon")  # type: ignore[arg-type]
        case "bad statement":
            with contextlib.suppress(Exception):
                await (await ctx.transaction()).execute("no such statement")
        case "open transaction":
            await ctx.transaction()
            raise ValueError("and fails")
        case _:
            raise AssertionError(how)


MISUSES = [
    "child",
    "group",
    "callback",
    "timer",
    "cancel itself",
    "left behind",
    "progress",
    "nan",
    "log",
    "bad child",
    "no request",
    "no text",
    "retry",
    "bad statement",
    "open transaction",
]


async def _use_later(ctx: Context) -> None:
    await asyncio.sleep(0.02)
    await ctx.transaction()


@app.task(retries=0, timeout=0.1)
async def swallow() -> None:
    """Swallows its first cancellation."""
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(FOREVER)
    await asyncio.sleep(FOREVER)


@app.task(retries=0)
def threads(ctx: SyncContext, how: str) -> None:
    match how:
        case "left behind":
            threading.Thread(target=_use_in_thread, args=(ctx,), daemon=True).start()
        case "log":
            ctx.log("\ud800" * 100_000)
        case "progress":
            ctx.progress({"a": object()})
        case "exit":
            sys.exit(3)
        case "recurse":
            threads.function(ctx, how)
        case _:
            raise AssertionError(how)


THREADS = ["left behind", "log", "progress", "exit", "recurse"]


def _use_in_thread(ctx: SyncContext) -> None:
    time.sleep(0.02)
    with contextlib.suppress(Exception):
        ctx.transaction()


@app.task(retries=0, executor="process", timeout=60)
def die(ctx: SyncContext, how: str) -> None:
    """Ways of a process to end, or to break what connects it to the worker."""
    match how:
        case "exit":
            os._exit(3)
        case "sys.exit":
            sys.exit("x")
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "term":
            os.kill(os.getpid(), signal.SIGTERM)
        case "descriptors":
            os.closerange(0, 1_000)
        case "garbage":
            for number in range(3, 256):
                with contextlib.suppress(OSError):
                    os.write(number, b"\xff" * 100)
        case "parent":
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(FOREVER)
        case "fork":
            if os.fork() == 0:
                time.sleep(FOREVER)
        case "daemon":
            subprocess.Popen(["sleep", "3600"], start_new_session=True)
        case "progress":
            ctx.progress(nested(400))
        case "log":
            ctx.log("\ud800\x00" * 200_000)
        case "ignore":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        case _:
            raise AssertionError(how)


DEATHS = [
    "exit",
    "sys.exit",
    "kill",
    "segfault",
    "term",
    "descriptors",
    "garbage",
    "parent",
    "fork",
    "daemon",
    "progress",
    "log",
    "ignore",
]
SCRIPTS = {
    "exit": "exit 75",
    "kill": "kill -9 $$",
    "stop": "kill -STOP $$",
    "bytes": "head -c 100000 /dev/urandom; head -c 100000 /dev/urandom >&2",
    "flood": "head -c 3000000 /dev/zero",
    "brackets": "head -c 5000 /dev/zero | tr '\\0' '['",
    "closed": "exec 0<&- 1>&- 2>&- 3>&-; sleep 0.01",
    "background": "sleep 3600 & sleep 3600 >/dev/null 2>&1 3>&- & echo 1",
    "deep message": "(printf '{\"result\":'; head -c 5000 /dev/zero | tr '\\0' '[') >&3",
    "deep progress": "(printf '{\"progress\":'; head -c 300 /dev/zero | tr '\\0' '[') >&3; echo 1",
    "nan": "echo '{\"progress\": NaN}' >&3; echo '{\"result\": 1e999}' >&3",
    "two": 'echo \'{"result": 1, "failed": "x"}\' >&3',
    "odd failure": 'echo \'{"failed": {"message": "\\u0000", "type": "", "permanent": true}}\' >&3',
    "bad type": 'echo \'{"failed": {"type": 3}}\' >&3',
    "retry": "echo '{\"retry_in\": -1}' >&3",
    "half": "printf '{\"result\": ' >&3",
    "noise": "head -c 100000 /dev/urandom >&3",
    "long line": "head -c 3000000 /dev/zero | tr '\\0' 'x' >&3",
}
scripts = {
    name: app.command(
        f"script {name}", ["sh", "-c", script], retries=0, timeout=3 if name == "stop" else 60, result="json"
    )
    for name, script in SCRIPTS.items()
}
filtered = app.command(
    "filtered",
    ["sh", "-c", "echo \"::hanbeon $1\"; printf '::hanbeon '", "sh", "{args.text}"],
    retries=0,
    protocol="stdout",
)
absent = app.command("absent", ["/no/such/program"], retries=0)
too_long = app.command("too_long", ["true", "{args.text}"], retries=0)

JOBS = [
    *(task.call(how) for task in (in_loop, in_thread, in_process) for how in ENDS),
    *(misuse.call(how) for how in MISUSES),
    swallow.call(),
    *(threads.call(how) for how in THREADS),
    *(die.call(how) for how in DEATHS),
    *(task.call() for task in scripts.values()),
    *(filtered.call(text=text) for text in ("[" * 3_000, '{"progress": 1}', "\x7f", "{}")),
    absent.call(),
    *(too_long.call(text=text) for text in ("x" * 200_000, "\x7f" * 900_000)),
]
EXPENSIVE = {"in_process", "die", "absent", "filtered", "too_long", *(task.name for task in scripts.values())}
"""Those that start a process."""

meeting: set[int] = set()


@app.task(retries=0)
async def meet(number: int, all_of: int) -> int:
    """Return once `all_of` such jobs run at the same time: only possible if each has a slot."""
    meeting.add(number)
    while len(meeting) < all_of:  # noqa: ASYNC110 - it may not depend on who comes last
        await asyncio.sleep(0.01)
    return number
