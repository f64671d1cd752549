"""The thread of a SQLite connection: calls in turn, results and errors for those who wait, and an end in any case."""

import asyncio
import subprocess
import sys
import threading

import pytest

from hanbeon.store.database.sqlite_thread import SqliteThread

LEFT_OPEN = """
import asyncio, threading
from hanbeon.store.database.sqlite_thread import SqliteThread

def write(begun):
    begun.set()
    for _ in range(100_000):
        pass
    print("written")

async def main():
    begun, thread = threading.Event(), SqliteThread("left open")
    task = asyncio.create_task(thread.run(write, begun))
    await asyncio.sleep(0)
    begun.wait()
    task.cancel()

asyncio.run(main())
"""


async def test_calls_run_in_turn_in_one_thread() -> None:
    thread, seen = SqliteThread("test"), []

    def call(n: int) -> int:
        seen.append((n, threading.get_ident()))
        return n

    assert await asyncio.gather(*(thread.run(call, n) for n in range(9))) == list(range(9))
    assert [n for n, _ in seen] == list(range(9))
    assert len({ident for _, ident in seen} | {threading.get_ident()}) == 2
    with pytest.raises(ZeroDivisionError):
        await thread.run(lambda: 1 / 0)
    assert await thread.run(call, 10) == 10
    await thread.close()
    thread._thread.join()
    with pytest.raises(RuntimeError, match="closed"):
        await thread.run(call, 11)


async def test_cancelled_calls_that_have_not_begun_never_run() -> None:
    thread, seen = SqliteThread("test"), []
    begun, go = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        go.wait()
        seen.append("first")

    first = asyncio.create_task(thread.run(hold))
    second = asyncio.create_task(thread.run(seen.append, "second"))
    await asyncio.to_thread(begun.wait)
    first.cancel()
    second.cancel()
    await asyncio.wait([first, second])
    go.set()
    await thread.run(seen.append, "third")
    assert seen == ["first", "third"]
    await thread.close()


def test_a_call_is_finished_before_python_ends() -> None:
    done = subprocess.run([sys.executable, "-c", LEFT_OPEN], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "written\n"
