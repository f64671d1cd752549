"""Shared by all agents: arguments, the work folder, and reports of progress and results."""

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

_INVALID = 64  # An exit code that is never retried.
_TEMPORARY = 75  # One that is.
_PACE = float(os.environ.get("AGENT_PACE", "0.3"))


def arguments() -> dict[str, Any]:
    """Return the job's arguments."""
    found: dict[str, Any] = json.loads(os.environ.get("HANBEON_ARGS", "{}"))
    return found


def work_folder() -> Path:
    """Return the folder of the work item, which all agents share."""
    item = arguments().get("item")
    if not isinstance(item, str) or not re.fullmatch(r"[a-z0-9-]{1,40}", item):
        print(f"item: must be lower-case letters, digits and hyphens, got {item!r}", file=sys.stderr)
        raise SystemExit(_INVALID)
    folder = Path("out") / item
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def read(path: Path) -> dict[str, Any]:
    """Read a file that an earlier agent wrote."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        print(f"{path} does not exist; run the agent that writes it first", file=sys.stderr)
        raise SystemExit(_INVALID) from None
    return found


def step(percent: int, note: str) -> None:
    """Report a step in the log and as progress. Thinking takes a moment."""
    print(note, flush=True)
    _send({"progress": percent})
    time.sleep(_PACE)


def done(result: Any) -> None:
    """Report the job's result."""
    _send({"result": result})


def try_later(reason: str) -> NoReturn:
    """End this attempt with an exit code that is retried."""
    print(reason, file=sys.stderr)
    raise SystemExit(_TEMPORARY)


def _send(message: dict[str, Any]) -> None:
    """Write to the session's descriptor; without a worker there is none."""
    descriptor = os.environ.get("HANBEON_FD")
    if descriptor is not None:
        os.write(int(descriptor), (json.dumps(message) + "\n").encode())
