"""Numbers that paths name things by, and pages that are counted."""

from __future__ import annotations

import re
from typing import Any

_MOST = 2**63 - 1
_WRITTEN = re.compile(r"0|[1-9][0-9]{0,18}")
NUMBERED_PAGE_SIZE = 20
"""Rows of a page that is asked for by its number."""


def number_of(text: Any) -> int | None:
    """Return a number of the database, or None for what cannot be one: `01` is not another name of `1`."""
    if isinstance(text, str) and _WRITTEN.fullmatch(text):
        text = int(text)
    return text if isinstance(text, int) and not isinstance(text, bool) and 0 <= text <= _MOST else None
