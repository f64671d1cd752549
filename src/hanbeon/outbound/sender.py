"""The process that sends messages: a request is a line on stdin, its receipt and its answer are lines on stdout.

It is started by `sender_pool.py` as `python -m hanbeon.outbound.sender`. The end of stdin ends it at once, whatever it
does: nobody would hear of the result.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from typing import Any

from hanbeon.errors import MessageFailed
from hanbeon.outbound.messages import preload, send_message


def answer_to(request: dict[str, Any]) -> dict[str, Any]:
    """Send a message; returns an empty answer, or the failure."""
    try:
        send_message(**request)
    except MessageFailed as error:
        return {"message": str(error), "permanent": error.permanent, "failure_type": error.failure_type}
    return {}


def main() -> None:
    # What libraries print must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    preload()
    print(json.dumps("ready"), file=answers, flush=True)
    while True:
        request = json.loads(requests.get())
        print(json.dumps("taken"), file=answers, flush=True)
        print(json.dumps(answer_to(request)), file=answers, flush=True)


def _read(requests: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
