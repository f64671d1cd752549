"""Downloads: a file in parts, or one range of it, with its length, type, name and ETag."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from urllib.parse import quote

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from hanbeon.server.middleware import HEAD_ONLY
from hanbeon.surfaces.stored_file import StoredFile

_PART_BYTES = 1 << 18
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})", re.ASCII)


class FileDownload(Response):
    """Sends an open file, and closes it. Several ranges at once are answered with the whole file, as HTTP allows."""

    def __init__(self, stored: StoredFile) -> None:
        super().__init__(media_type=stored.media_type)
        self._stored = stored
        name = quote(stored.name, safe="")
        self.headers["Content-Disposition"] = f"attachment; filename=\"{stored.name}\"; filename*=UTF-8''{name}"
        self.headers["Accept-Ranges"] = "bytes"
        if stored.digest is not None:
            self.headers["ETag"] = f'"{stored.digest}"'

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        stored = self._stored
        with stored.file:
            asked = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
            status, start, end = self._part(asked)
            self.headers["Content-Length"] = str(end - start)
            if status == 206:
                self.headers["Content-Range"] = f"bytes {start}-{end - 1}/{stored.size}"
            elif status == 416:
                self.headers["Content-Range"] = f"bytes */{stored.size}"
            await send({"type": "http.response.start", "status": status, "headers": self.raw_headers})
            if scope.get(HEAD_ONLY):
                start = end
            while start < end:
                data = await asyncio.to_thread(self._read, start, min(_PART_BYTES, end - start))
                if not data:
                    # It has become shorter. The length was promised: the connection ends, and the client notices.
                    raise OSError("the file was cut while it was sent")
                await send({"type": "http.response.body", "body": data, "more_body": True})
                start += len(data)
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _read(self, start: int, size: int) -> bytes:
        self._stored.file.seek(start)
        return self._stored.file.read(size)

    def _part(self, asked: Mapping[str, str]) -> tuple[int, int, int]:
        """Return the status, and where the part that is asked for begins and ends."""
        etag, size = self.headers.get("ETag"), self._stored.size
        if etag is not None and _matches(asked.get("if-none-match"), etag):
            return 304, 0, 0
        header = asked.get("range")
        if header is None or asked.get("if-range", etag) != etag:
            return 200, 0, size
        found = _RANGE.fullmatch(header.replace(" ", ""))
        if found is None or not (found[1] or found[2]):
            return 200, 0, size
        if not found[1]:
            start, end = max(0, size - int(found[2])), size
        else:
            start, end = int(found[1]), min(size, int(found[2]) + 1) if found[2] else size
            if found[2] and int(found[2]) < start:
                return 200, 0, size  # Not a range, by the rules of HTTP.
        return (206, start, end) if start < end else (416, 0, 0)


def _matches(header: str | None, etag: str) -> bool:
    if header is None:
        return False
    given = [each.strip().removeprefix("W/") for each in header.split(",")]
    return etag in given or "*" in given
