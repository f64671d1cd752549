"""Files as results: an open file, and what a client is told of it."""

from __future__ import annotations

from typing import BinaryIO, NamedTuple


class StoredFile(NamedTuple):
    """An open file, which its receiver closes. `digest`: its SHA-256 in hex."""

    file: BinaryIO
    size: int
    name: str
    media_type: str
    digest: str | None
