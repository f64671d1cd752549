"""Moves that a user makes by hand and says why: they are kept with the job."""

from __future__ import annotations

from typing import Any

import msgspec

from hanbeon.domain.job import check_text
from hanbeon.domain.lifecycle import Reason

COMMENT_LIMIT = 2_000
"""Characters of a comment."""


class HandMove(msgspec.Struct, frozen=True, kw_only=True):
    """One of these moves. `user`: None for a program that uses the library."""

    at: int
    reason: Reason
    user: str | None = None
    comment: str | None = None
    changes: dict[str, Any] = msgspec.field(default_factory=dict)
    """What else it changed of the job."""


def check_comment(comment: Any, *, required: bool) -> None:
    if comment is not None or required:
        check_text("comment", comment, COMMENT_LIMIT)
