"""Shows frames: one, or one after the other until somebody has seen enough."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterator

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from hanbeon.cli.json_output import instance_shape, job_shape, queue_shape
from hanbeon.cli.open_app import open_app
from hanbeon.cli.output import print_json
from hanbeon.cli.top.frame import frame
from hanbeon.cli.top.look import Rates, look
from hanbeon.errors import Unavailable


async def print_frame(out: Console, database: str | None, *, json: bool) -> None:
    """What there is now."""
    async with open_app(database) as app:
        seen = await look(app)
    if json:
        print_json(
            {
                "queues": [queue_shape(queue, numbers) for queue, numbers in seen.queues],
                "instances": [instance_shape(each, seen.zone) for each in seen.instances],
                "running": [job_shape(job, seen.zone) for job in seen.running],
            }
        )
        return
    for line in frame(seen, (), out.width if out.is_terminal else None):
        line.rstrip()
        out.print(line)


async def show_live(out: Console, database: str | None, every: float) -> None:
    """A frame after the other, until q. While the database does not answer, the last one stays and says so."""
    rates = Rates()
    async with open_app(database) as app:
        with _keys() as leave, Live(console=out, screen=True, auto_refresh=False) as live:
            lines = [Text("looking …")]
            while not leave.is_set():
                try:
                    seen = await look(app)
                    rates.note(seen)
                    lines = frame(seen, list(rates.values), out.width, out.height)
                except Unavailable as error:
                    lines = [Text(f"error: {error}", "bold red"), *lines[1:]]
                live.update(Group(*(_cut(line, out.width) for line in lines)), refresh=True)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(every):
                        await leave.wait()


def _cut(line: Text, width: int) -> Text:
    line = line.copy()
    line.truncate(width, overflow="ellipsis")
    return line


@contextlib.contextmanager
def _keys() -> Iterator[asyncio.Event]:
    """An event that q sets. The terminal hands over single keys meanwhile, without showing them."""
    leave = asyncio.Event()
    if not sys.stdin.isatty():
        yield leave
        return
    import termios
    import tty

    loop, keyboard = asyncio.get_running_loop(), sys.stdin.fileno()

    def read() -> None:
        import os

        pressed = os.read(keyboard, 100)
        if not pressed or b"q" in pressed.lower():
            leave.set()

    before = termios.tcgetattr(keyboard)
    tty.setcbreak(keyboard)
    loop.add_reader(keyboard, read)
    try:
        yield leave
    finally:
        loop.remove_reader(keyboard)
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
