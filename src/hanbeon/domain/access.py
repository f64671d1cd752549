"""Authorization: the scopes of tokens and the requests that each scope permits."""

from __future__ import annotations

import enum
from collections.abc import Mapping


class Scope(enum.StrEnum):
    """The purpose of a token."""

    ADMIN = "admin"
    USER = "user"
    CRON = "cron"
    READ = "read"


class Need(enum.Enum):
    """The permission that a request needs."""

    NOTHING = "nothing"
    READ = "read"
    WRITE = "write"
    RUN = "run"
    MONITOR = "monitor"
    CRON = "cron"
    ADMIN = "admin"


ALLOWED: Mapping[Need, frozenset[Scope]] = {
    Need.NOTHING: frozenset(Scope),
    Need.READ: frozenset((Scope.ADMIN, Scope.USER, Scope.READ)),
    Need.WRITE: frozenset((Scope.ADMIN, Scope.USER)),
    Need.RUN: frozenset((Scope.ADMIN, Scope.USER, Scope.CRON)),
    Need.MONITOR: frozenset(Scope),
    Need.CRON: frozenset((Scope.ADMIN, Scope.CRON)),
    Need.ADMIN: frozenset((Scope.ADMIN,)),
}
