"""The program that asks a server: `python -m bench.requests COMMAND URL OFFICE NUMBER`.

The commands are batches (of a thousand jobs each), singles (one job at a time, by request and by the engine in turns)
and stats. It prints one line of JSON. One connection, kept open, and one request at a time: what is measured is a
request, not how many a server can take.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import sys
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

from bench.adapters.client import PER_CALL
from bench.numbers import percentile

HANDLER = "noop"
_WARM_UP = 10
_PATIENCE = 120.0

Ask = Callable[..., Any]


def main() -> None:
    command, url, office, number = sys.argv[1:]
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=_PATIENCE)) as connection:
        print(json.dumps(COMMANDS[command](_asking(connection), f"/api/offices/{office}", int(number))), flush=True)


def _asking(connection: http.client.HTTPConnection) -> Ask:
    def ask(method: str, path: str, body: bytes | None = None) -> Any:
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        said = answer.read()
        if answer.status not in (200, 201):
            raise SystemExit(f"{method} {path} was answered with {answer.status}: {said[:200]!r}")
        return said

    return ask


def _batch(numbers: range) -> bytes:
    return json.dumps({"jobs": [{"args": {"x": x}} for x in numbers]}).encode()


def batches(ask: Ask, office: str, count: int) -> dict[str, float]:
    """The answers are read and understood: a client wants the ids of what it made."""
    ask("POST", f"{office}/jobs", _batch(range(_WARM_UP)))
    began = time.perf_counter()
    made = 0
    for start in range(0, count, PER_CALL):
        answer = ask("POST", f"{office}/jobs", _batch(range(start, min(count, start + PER_CALL))))
        made += len(json.loads(answer)["jobs"])
    return {"seconds": time.perf_counter() - began, "jobs": made}


def singles(ask: Ask, office: str, count: int) -> dict[str, float]:
    return asyncio.run(_singles(ask, office, count))


async def _singles(ask: Ask, office: str, count: int) -> dict[str, float]:
    from bench.adapters.ours import app, noop

    by_engine, by_request = [], []
    async with app:
        for x in range(-_WARM_UP, count):
            began = time.perf_counter()
            await app.enqueue(noop.call(x))
            between = time.perf_counter()
            ask("POST", f"{office}/jobs", _batch(range(x, x + 1)))
            by_engine.append(between - began)
            by_request.append(time.perf_counter() - between)
    return {
        name: percentile(times[_WARM_UP:], 0.5) * 1_000
        for name, times in (("engine", by_engine), ("request", by_request))
    }


def stats(ask: Ask, office: str, count: int) -> dict[str, float]:
    times = []
    for _ in range(_WARM_UP + count):
        began = time.perf_counter()
        ask("GET", f"{office}/scheduler/stats")
        times.append(time.perf_counter() - began)
    told = json.loads(ask("GET", f"{office}/scheduler/stats"))
    return {"p50": percentile(times[_WARM_UP:], 0.5) * 1_000, "jobs": told["ready"]}


COMMANDS: dict[str, Callable[[Ask, str, int], dict[str, float]]] = {
    "batches": batches,
    "singles": singles,
    "stats": stats,
}

if __name__ == "__main__":
    main()
