"""Requests and results of replays: the only place where their fields are written."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from hanbeon.surfaces.schema import PageNumber, PageSize, Request, Result


class ReplayQuery(Request, frozen=True, kw_only=True):
    """`page` from 0, of `size` rows."""

    page: PageNumber | UnsetType = UNSET
    size: PageSize | UnsetType = UNSET


class Replay(Result, frozen=True, kw_only=True, rename="camel"):
    """An uploaded replay. `checksum` is the SHA-256 of the file in hex, `name` the file's own."""

    replay_id: int
    name: str
    title: str
    bytes: int
    checksum: str
    duration_ms: int
    created_at: str


class ReplayPage(Result, frozen=True, kw_only=True):
    """Replays, newest first."""

    items: list[Replay]
    page: int
    size: int
    total: int
