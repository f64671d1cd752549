"""What every agent needs: its arguments, its desk, and a way to tell how far it is."""

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

_INVALID = 64  # An exit code that is never retried.
_TEMPORARY = 75  # One that is.
_PACE = 0.3


def arguments() -> dict[str, Any]:
    """What the job was made with."""
    found: dict[str, Any] = json.loads(os.environ.get("HANBEON_ARGS", "{}"))
    return found


def desk() -> Path:
    """The folder of the work item; all of them work in it, one after the other."""
    item = arguments().get("item")
    if not isinstance(item, str) or not re.fullmatch(r"[a-z0-9-]{1,40}", item):
        print(f"item: {item!r} does not fit; use small letters, digits and hyphens", file=sys.stderr)
        raise SystemExit(_INVALID)
    folder = Path("out") / item
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def read(path: Path) -> dict[str, Any]:
    """What somebody before wrote."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        print(f"{path} is not there; who writes it has not been asked", file=sys.stderr)
        raise SystemExit(_INVALID) from None
    return found


def step(percent: int, note: str) -> None:
    """Say what is being done: in the log, and as progress. Thinking takes a moment."""
    print(note, flush=True)
    _say({"progress": percent})
    time.sleep(_PACE)


def done(result: Any) -> None:
    """The result of the job."""
    _say({"result": result})


def try_later(why: str) -> NoReturn:
    """This attempt is over; the next one will find things as they should be."""
    print(why, file=sys.stderr)
    raise SystemExit(_TEMPORARY)


def _say(what: dict[str, Any]) -> None:
    """On the descriptor that the session has for it; by hand, without a worker, there is none."""
    descriptor = os.environ.get("HANBEON_FD")
    if descriptor is not None:
        os.write(int(descriptor), (json.dumps(what) + "\n").encode())
