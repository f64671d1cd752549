"""Operations for the tests of chains. Each appends itself to the file that its arguments name."""

import asyncio
import json  # noqa: F401 - imported, so no operation
import time
from pathlib import Path
from typing import Any

import hanbeon


def _note(word: str, arguments: Any) -> None:
    if isinstance(arguments, dict) and "trace" in arguments:
        with Path(arguments["trace"]).open("a") as file:
            file.write(f"{word} {arguments.get('name', '')}\n")


def do(arguments: Any, context: dict[str, Any]) -> Any:
    _note("do", arguments)
    name = arguments.get("name") if isinstance(arguments, dict) else str(arguments)
    context.setdefault("done", []).append(name)
    return {"did": name}


def undo(arguments: Any, context: dict[str, Any]) -> Any:
    _note("undo", arguments)
    name = arguments.get("name") if isinstance(arguments, dict) else str(arguments)
    context.setdefault("undone", []).append(name)
    return {"undid": name}


def fail(arguments: Any, context: dict[str, Any]) -> Any:
    _note("fail", arguments)
    context["half"] = True
    raise ValueError("it did not work")


def fail_until(arguments: Any, context: dict[str, Any]) -> Any:
    """Fail until the file `gate` exists."""
    _note("fail_until", arguments)
    context["tries"] = context.get("tries", 0) + 1
    if not Path(arguments["gate"]).exists():
        raise RuntimeError("the gate is shut")
    return context["tries"]


def hang(arguments: Any, context: dict[str, Any]) -> None:
    _note("hang", arguments)
    hanbeon.current().log("hang")
    context["hung"] = True
    while True:
        time.sleep(0.05)


async def do_async(arguments: Any, context: dict[str, Any]) -> str:
    await asyncio.sleep(0)
    context["async"] = True
    return "awaited"


def tell(arguments: Any, context: dict[str, Any]) -> dict[str, Any]:
    current = hanbeon.current()
    current.log("told")
    current.progress({"at": "half"})
    return {"key": current.idempotency_key, "fence": current.fence, "stopping": current.stopping}


def give_object(arguments: Any, context: dict[str, Any]) -> object:
    return {1, 2}.__class__


def swell(arguments: Any, context: dict[str, Any]) -> None:
    context["big"] = "x" * 1_000_000


def echo(arguments: Any, context: dict[str, Any]) -> list[Any]:
    return [arguments, dict(context)]
