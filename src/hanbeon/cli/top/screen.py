"""Shows one frame, or a live view until the user quits."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterator

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from hanbeon.cli.installation import open_installation
from hanbeon.cli.output import print_json
from hanbeon.cli.top.frame import frame
from hanbeon.cli.top.snapshot import Rates, take_snapshot
from hanbeon.errors import Unavailable


async def print_frame(out: Console, database: str | None, *, json: bool) -> None:
    """Print the current state once."""
    async with open_installation(database) as installation:
        snapshot = await take_snapshot(installation)
    if json:
        print_json(
            {
                "queues": snapshot.queues,
                "instances": snapshot.instances,
                "running": snapshot.running,
            }
        )
        return
    for line in frame(snapshot, (), out.width if out.is_terminal else None):
        line.rstrip()
        out.print(line)


async def show_live(out: Console, database: str | None, every: float) -> None:
    """Refresh the view until q is pressed. While it is unavailable, the last frame stays with the error."""
    rates = Rates()
    async with open_installation(database) as installation:
        with _quit_key() as quit_requested, Live(console=out, screen=True, auto_refresh=False) as live:
            lines = [Text("loading …")]
            while not quit_requested.is_set():
                try:
                    snapshot = await take_snapshot(installation)
                    rates.add(snapshot)
                    lines = frame(snapshot, list(rates.values), out.width, out.height)
                except Unavailable as error:
                    lines = [Text(f"error: {error}", "bold red"), *lines[1:]]
                live.update(Group(*(_cut(line, out.width) for line in lines)), refresh=True)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(every):
                        await quit_requested.wait()


def _cut(line: Text, width: int) -> Text:
    line = line.copy()
    line.truncate(width, overflow="ellipsis")
    return line


@contextlib.contextmanager
def _quit_key() -> Iterator[asyncio.Event]:
    """Return an event that q sets. Meanwhile the terminal passes on single keys without echoing them."""
    quit_requested = asyncio.Event()
    if not sys.stdin.isatty():
        yield quit_requested
        return
    import termios
    import tty

    loop, keyboard = asyncio.get_running_loop(), sys.stdin.fileno()

    def read() -> None:
        import os

        pressed = os.read(keyboard, 100)
        if not pressed or b"q" in pressed.lower():
            quit_requested.set()

    before = termios.tcgetattr(keyboard)
    tty.setcbreak(keyboard)
    loop.add_reader(keyboard, read)
    try:
        yield quit_requested
    finally:
        loop.remove_reader(keyboard)
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
