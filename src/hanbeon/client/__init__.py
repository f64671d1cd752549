"""A typed client of a server's HTTP API, with and without an event loop. It needs the extra `client`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hanbeon.client.client import AsyncClient, Client
from hanbeon.client.problems import (
    Changed,
    ClientError,
    Conflict,
    Invalid,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    Problem,
    ServerDefect,
    ServerUnavailable,
    StillUnfinished,
    TooLarge,
    TooMany,
    UnexpectedAnswer,
    Unreachable,
)
from hanbeon.surfaces.surface import load

if TYPE_CHECKING:
    from hanbeon.surfaces.offices.schemas import JobSpec

__all__ = [
    "AsyncClient",
    "Changed",
    "Client",
    "ClientError",
    "Conflict",
    "Invalid",
    "JobSpec",
    "NotAllowed",
    "NotAuthenticated",
    "NotFound",
    "Problem",
    "ServerDefect",
    "ServerUnavailable",
    "StillUnfinished",
    "TooLarge",
    "TooMany",
    "UnexpectedAnswer",
    "Unreachable",
]

_OF_SURFACES = {"JobSpec": "hanbeon.surfaces.offices.schemas:JobSpec"}


def __getattr__(name: str) -> object:
    if name not in _OF_SURFACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(_OF_SURFACES[name])
