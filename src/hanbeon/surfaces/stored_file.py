"""Files as results: an open file, and what a client is told of it."""

from __future__ import annotations

from typing import BinaryIO, NamedTuple

from hanbeon.domain.audit.findings import FindingCode


class FileCode(FindingCode):
    """The kinds of inconsistency between rows and files."""

    MISSING_FILE = "missing_file", "a replay, or an export that has succeeded, without its file"


class StoredFile(NamedTuple):
    """An open file, which its receiver closes. `digest`: its SHA-256 in hex."""

    file: BinaryIO
    size: int
    name: str
    media_type: str
    digest: str | None
