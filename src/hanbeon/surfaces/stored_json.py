"""JSON that the database holds (arguments, progress, results), as a part of a result of a service.

Python callers get it decoded. A server passes it through as it is: decoding and encoding costs time and memory, and a
value that was stored under other limits must not make a whole list fail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

StoredJson = Callable[[str | None], Any]


def decoded(text: str | None) -> Any:
    return None if text is None else msgspec.json.decode(text)


def passed_through(text: str | None) -> Any:
    """The text itself, for a result that is about to be encoded."""
    return None if text is None else msgspec.Raw(text)
