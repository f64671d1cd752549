"""The bases of all errors: a stable code, and a kind that is free of any transport."""

from __future__ import annotations

import enum
from typing import ClassVar

from hanbeon.quotation import TEXT_CHARACTERS, plain
from hanbeon.rule import Rule

_FIELD_CHARACTERS = 500


class Kind(enum.Enum):
    """The category of an error, free of any transport; each surface maps it to its own status once."""

    INVALID = "invalid"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"


class HanbeonError(Exception):
    """Base class of all errors that Hanbeon raises."""

    code: ClassVar[str] = "error"
    kind: ClassVar[Kind] = Kind.FAILED
    members: ClassVar[tuple[str, ...]] = ("ids", "job_id", "state", "key", "path")
    """Attributes that a problem of the server has as members, where an error has them."""
    field: str | None = None
    rule: Rule | None = None
    """The broken rule, for programs and other languages; None where the text is that of work, or of a user's code."""

    def __init__(self, message: object = "") -> None:
        if isinstance(message, Rule):
            self.rule = message
        # Whatever a message quotes, it stays short and on one line.
        super().__init__(plain(str(message), TEXT_CHARACTERS))


class InvalidInput(HanbeonError):
    """Invalid input."""

    code = "invalid"
    kind = Kind.INVALID

    def __init__(self, message: str | Rule, *, field: str | None = None) -> None:
        self.field = plain(field, _FIELD_CHARACTERS) if field else None
        self.reason = message
        if isinstance(message, Rule):
            self.rule = message
        super().__init__(f"{self.field}: {message}" if self.field else message)

    def move_inside(self, place: str) -> None:
        """Name the field as one of `place`, a part of a larger input, in the text, too."""
        self.field = plain(f"{place}.{self.field}" if self.field else place, _FIELD_CHARACTERS)
        self.args = (plain(f"{self.field}: {self.reason}", TEXT_CHARACTERS),)


class NotFound(HanbeonError):
    """Not found."""

    code = "not_found"
    kind = Kind.NOT_FOUND


class Conflict(HanbeonError):
    """The current state forbids this operation."""

    code = "conflict"
    kind = Kind.CONFLICT


class Unavailable(HanbeonError):
    """A service or library that Hanbeon depends on is unavailable."""

    code = "unavailable"
    kind = Kind.UNAVAILABLE
