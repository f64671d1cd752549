"""Ends a program of the tests when the test that started it is gone."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

ORPHANED = 71


def end_with_the_owner(on_line: Callable[[str], None] | None = None) -> None:
    """Exit when standard input closes: it is a pipe that only the owner holds, so it closes however the owner ends.

    Until then every line from it is passed to `on_line`, in a thread.
    """

    def listen() -> None:
        for line in sys.stdin:
            if on_line is not None:
                on_line(line.rstrip("\n"))
        os._exit(ORPHANED)

    threading.Thread(target=listen, name="owner", daemon=True).start()
