"""Bodies for worker processes, which find them by module and name. They tell through journals, not the database."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

from hanbeon import App, PermanentError, TaskError
from hanbeon.tasks.context import PutOffRequest

app = App()
FOREVER = 3600.0


@app.task(executor="process")
def add(a: int, b: int = 0) -> int:
    return a + b


@app.task(executor="process")
def whoami() -> int:
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
            os.kill(os.getpid(), signal.SIGSEGV)
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
