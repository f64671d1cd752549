"""The program that sends requests to a server: `python -m bench.requests COMMAND URL OFFICE NUMBER`.

The commands are batches (of a thousand jobs each), singles (one job at a time, alternately by request and by the
engine) and stats. It prints one line of JSON. It sends one request at a time over one open connection: it measures the
cost of a request, not a server's capacity.
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
_TIMEOUT = 120.0

Send = Callable[..., Any]


def main() -> None:
    command, url, office, number = sys.argv[1:]
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=_TIMEOUT)) as connection:
        print(json.dumps(COMMANDS[command](_sender(connection), f"/api/offices/{office}", int(number))), flush=True)


def _sender(connection: http.client.HTTPConnection) -> Send:
    def send(method: str, path: str, body: bytes | None = None) -> Any:
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        response = connection.getresponse()
        content = response.read()
        if response.status not in (200, 201):
            raise SystemExit(f"{method} {path} returned {response.status}: {content[:200]!r}")
        return content

    return send


def _batch(numbers: range) -> bytes:
    return json.dumps({"jobs": [{"args": {"x": x}} for x in numbers]}).encode()


def batches(send: Send, office: str, count: int) -> dict[str, float]:
    """Create jobs in batches. The responses are decoded too: a client needs the ids of its jobs."""
    send("POST", f"{office}/jobs", _batch(range(_WARM_UP)))
    began = time.perf_counter()
    made = 0
    for start in range(0, count, PER_CALL):
        answer = send("POST", f"{office}/jobs", _batch(range(start, min(count, start + PER_CALL))))
        made += len(json.loads(answer)["jobs"])
    return {"seconds": time.perf_counter() - began, "jobs": made}


def singles(send: Send, office: str, count: int) -> dict[str, float]:
    return asyncio.run(_singles(send, office, count))


async def _singles(send: Send, office: str, count: int) -> dict[str, float]:
    from bench.adapters.ours import app, noop

    by_engine, by_request = [], []
    async with app:
        for x in range(-_WARM_UP, count):
            began = time.perf_counter()
            await app.enqueue(noop.call(x))
            between = time.perf_counter()
            send("POST", f"{office}/jobs", _batch(range(x, x + 1)))
            by_engine.append(between - began)
            by_request.append(time.perf_counter() - between)
    return {
        name: percentile(times[_WARM_UP:], 0.5) * 1_000
        for name, times in (("engine", by_engine), ("request", by_request))
    }


def stats(send: Send, office: str, count: int) -> dict[str, float]:
    times = []
    for _ in range(_WARM_UP + count):
        began = time.perf_counter()
        send("GET", f"{office}/scheduler/stats")
        times.append(time.perf_counter() - began)
    found = json.loads(send("GET", f"{office}/scheduler/stats"))
    return {"p50": percentile(times[_WARM_UP:], 0.5) * 1_000, "jobs": found["ready"]}


COMMANDS: dict[str, Callable[[Send, str, int], dict[str, float]]] = {
    "batches": batches,
    "singles": singles,
    "stats": stats,
}

if __name__ == "__main__":
    main()
