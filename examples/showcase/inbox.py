"""The inbox of the showcase: takes the messages of workflows over HTTP, on this machine alone, and shows them."""

from __future__ import annotations

import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_KEPT = 200
_BYTES_MOST = 1_000_000
_messages: deque[tuple[str, str]] = deque(maxlen=_KEPT)


class _Handler(BaseHTTPRequestHandler):
    """POST of `{"title", "message"}` keeps a message; GET shows all of them as text."""

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        if size > _BYTES_MOST:
            return self._answer(413, "too large\n")
        try:
            message = json.loads(self.rfile.read(size))
            _messages.append((str(message["title"]), str(message["message"])))
        except (ValueError, KeyError, TypeError):
            return self._answer(400, "not a message\n")
        return self._answer(200, "kept\n")

    def do_GET(self) -> None:
        texts = [f"{title}\n  {body}\n" for title, body in reversed(_messages)]
        self._answer(200, "\n".join(texts) or "No message yet.\n")

    def _answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """The job's history says it already."""


def open_inbox() -> str:
    """Listen on a free port until the program ends; return `host:port`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="inbox", daemon=True).start()
    return f"127.0.0.1:{server.server_port}"
