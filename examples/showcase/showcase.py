"""`make run`: serve the showcase until Ctrl-C. `python showcase.py [--port N] [--empty]`"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import socket
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import rounds  # noqa: E402
from courier import courier  # noqa: E402
from inbox import open_inbox  # noqa: E402

from hanbeon import App  # noqa: E402
from hanbeon.cli import main as hanbeon  # noqa: E402


async def first_round() -> None:
    """Create what the schedules only repeat, unless it exists: they keep it at work from here on."""
    async with App.from_file(HERE / "hanbeon.toml") as app:
        await rounds.office(app)
        if not (await app.chains.list(limit=1)).items:
            await rounds.chain(app)
            await command("enqueue", "write-a-digest")
        if not (await app.exports.list(size=1)).items:
            await rounds.exports(app)


async def command(*words: str) -> None:
    """Act as an operator does, who is recorded among the actions."""
    program = [sys.executable, "-m", "hanbeon", *words, "--config", str(HERE / "hanbeon.toml")]
    running = await asyncio.create_subprocess_exec(*program, stdout=asyncio.subprocess.DEVNULL)
    if await running.wait() != 0:
        raise SystemExit(f"hanbeon {' '.join(words)} failed")


def check_free(port: int) -> None:
    """End before anything is announced, if another program serves there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            why = f"cannot listen on port {port} ({error.strerror}); choose another with make run PORT="
            raise SystemExit(why) from None


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve the showcase until Ctrl-C.")
    parser.add_argument("--port", default=8000, type=int)
    parser.add_argument("--empty", action="store_true", help="start with nothing")
    given = parser.parse_args()
    check_free(given.port)
    (HERE / "out").mkdir(exist_ok=True)
    # Some of it is meant to fail, and the page asks every second: neither is news to who watches the log.
    os.environ.setdefault("HANBEON_LOG", "hanbeon.tasks=error,hanbeon.server.requests=warning")
    # Commands of the file are found beside this Python, which has the package.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    with contextlib.ExitStack() as ending:
        if not given.empty:
            redis = ending.enter_context(courier())
            if redis is not None:
                os.environ["HANBEON_REDIS_URL"] = redis
            address = open_inbox()
            os.environ["SHOWCASE_INBOX"] = f"json://{address}/"
            asyncio.run(first_round())
            print(f"Messages of workflows arrive at http://{address}/")
        if not sys.stderr.isatty():  # Else `hanbeon serve` says so, when it is ready.
            print(f"The dashboard is http://127.0.0.1:{given.port}/. Ctrl-C ends it.", flush=True)
        file = HERE / ("empty.toml" if given.empty else "hanbeon.toml")
        sys.argv[:] = ["hanbeon", "serve", "--config", str(file), "--port", str(given.port)]
        hanbeon()


if __name__ == "__main__":
    main()
