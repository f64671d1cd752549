"""What a program of tests does so that it never outlives the test that started it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

ORPHANED = 71


def end_with_the_owner(on_line: Callable[[str], None] | None = None) -> None:
    """Our standard input is a pipe that only the owner holds: it closes when the owner is gone, however it went.

    Until then every line that comes through it goes to `on_line`, in a thread.
    """

    def listen() -> None:
        for line in sys.stdin:
            if on_line is not None:
                on_line(line.rstrip("\n"))
        os._exit(ORPHANED)

    threading.Thread(target=listen, name="owner", daemon=True).start()
