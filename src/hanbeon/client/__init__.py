"""A typed client of a server's HTTP API, with and without an event loop. It needs the extra `client`."""

from __future__ import annotations

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
