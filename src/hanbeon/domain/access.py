"""Who may do what: the scopes of tokens, and what each of them lets through."""

from __future__ import annotations

import enum
from collections.abc import Mapping


class Scope(enum.StrEnum):
    """What a token is for."""

    ADMIN = "admin"
    USER = "user"
    CRON = "cron"
    READ = "read"


class Need(enum.Enum):
    """What a request is, for those who decide who may make it."""

    NOTHING = "nothing"
    READ = "read"
    WRITE = "write"
    CRON = "cron"
    ADMIN = "admin"


ALLOWED: Mapping[Need, frozenset[Scope]] = {
    Need.NOTHING: frozenset(Scope),
    Need.READ: frozenset((Scope.ADMIN, Scope.USER, Scope.READ)),
    Need.WRITE: frozenset((Scope.ADMIN, Scope.USER)),
    Need.CRON: frozenset((Scope.ADMIN, Scope.CRON)),
    Need.ADMIN: frozenset((Scope.ADMIN,)),
}
