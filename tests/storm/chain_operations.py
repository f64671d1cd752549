"""Operations that write down when they begin and end, and wait to be killed where the test wants it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any


def forward(arguments: dict[str, Any], context: dict[str, Any]) -> int:
    _operate("FORWARD", arguments)
    context["done"] = [*context.get("done", []), arguments["n"]]
    return int(arguments["n"])


def backward(arguments: dict[str, Any], context: dict[str, Any]) -> int:
    _operate("BACKWARD", arguments)
    context["undone"] = [*context.get("undone", []), arguments["n"]]
    return -int(arguments["n"])


def forward_fails(arguments: dict[str, Any], context: dict[str, Any]) -> None:
    _operate("FORWARD", arguments)
    raise RuntimeError("as it must")


def _operate(direction: str, arguments: dict[str, Any]) -> None:
    folder, name = Path(arguments["folder"]), f"{direction}-{arguments['n']}"
    _note(folder, f"begin {name}")
    held = folder / f"hold-{name}"
    if held.exists():
        # The test sees that it is taken, and kills the instance; the next attempt finds it gone.
        held.rename(folder / f"held-{name}")
        while True:
            time.sleep(0.05)
    _note(folder, f"end {name}")


def _note(folder: Path, line: str) -> None:
    descriptor = os.open(folder / "journal", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(descriptor, f"{line}\n".encode())  # One write, so that it is whole or not there.
    finally:
        os.close(descriptor)
