"""The server's URL and the client's credentials, checked before the first request."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hanbeon.client.flow import Request
from hanbeon.domain.trace_context import of_span
from hanbeon.errors import InvalidInput
from hanbeon.extras import extra
from hanbeon.rule import Rule

_CONNECT_SECONDS = 10.0


class Address:
    """A server's URL, the token for it, and the timeout of a response."""

    def __init__(self, url: str, token: str | None, timeout: float, verify: Any) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise InvalidInput(Rule("must_be", what=Rule("server_address")), field="url")
        if token is not None and not (token.isascii() and token.isprintable() and token.strip() == token and token):
            raise InvalidInput(Rule("must_be", what=Rule("printed_token")), field="token")
        if not timeout > 0:
            raise InvalidInput(Rule("must_be", what=Rule("positive_seconds"), got=repr(timeout)), field="timeout")
        self.url = url.rstrip("/")
        self._timeout = timeout
        headers = {"User-Agent": f"hanbeon-client/{version('hanbeon')}", "Accept": "*/*"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        self.options = {"headers": headers, "verify": verify, "timeout": self._seconds(timeout)}

    def arguments(self, request: Request, *, silence: float | None = None) -> dict[str, Any]:
        """Return httpx2's arguments for a request. `silence`: how long a stream may send nothing."""
        timeout = self._seconds(self._timeout if silence is None else silence)
        if request.upload is not None:
            # Opened for each attempt: the last one has read it.
            name = Path(request.upload).name
            return self._plain(request, timeout) | {"files": {"file": (name, open(request.upload, "rb"))}}
        return self._plain(request, timeout) | {"content": request.body}

    def _plain(self, request: Request, timeout: Any) -> dict[str, Any]:
        return {
            "method": request.method,
            "url": f"{self.url}{request.path}",
            "params": list(request.query) or None,
            "headers": {**_trace_headers(), **request.headers},
            "timeout": timeout,
        }

    def _seconds(self, read: float) -> Any:
        return httpx().Timeout(read, connect=min(_CONNECT_SECONDS, self._timeout))


def _trace_headers() -> dict[str, str]:
    """Return the context of the program's current span, if it uses OpenTelemetry."""
    trace: Any = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return {}
    own = trace.get_current_span().get_span_context()
    found = of_span(own.trace_id, own.span_id, int(own.trace_flags), own.trace_state.to_header())
    return {} if found is None else found.headers


def httpx() -> Any:
    """Import httpx2, which only clients need."""
    with extra("client", "a client of a server"):
        return import_module("httpx2")
