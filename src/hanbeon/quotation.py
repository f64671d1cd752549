"""Values of others in our own text: cut, and without control characters.

A request, a file or a command line may hold names of megabytes, and escape sequences that a terminal would obey.
"""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable
from typing import Any

NAME_CHARACTERS = 80
TEXT_CHARACTERS = 4_000


def plain(text: str, most: int | None = None) -> str:
    """Escape control characters: text written by others must not move the cursor, colour the screen or break a line.

    Of more than `most` characters, only the first are kept.
    """
    if most is not None and len(text) > most:
        text = text[:most] + "…"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def quoted(value: Any) -> str:
    """Return a value as an error quotes it: short, on one line, with quotation marks around text."""
    return plain(_REPR.repr(value), _REPR_CHARACTERS)


def nearest(name: str, known: Iterable[str], *, n: int = 1, cutoff: float = 0.6) -> list[str]:
    """Return the most similar known names. Long names are similar to none: comparing them costs memory and time."""
    return [] if len(name) > NAME_CHARACTERS else difflib.get_close_matches(name, known, n=n, cutoff=cutoff)


def suggested(name: str, known: Iterable[str]) -> str | None:
    """Return the most similar known name as an error quotes it, if there is one."""
    near = nearest(name, known)
    return quoted(near[0]) if near else None


class _Repr(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        # Python refuses to write numbers of more than 4,300 digits, and is slow long before.
        return f"an integer of {x.bit_length():,} bits" if x.bit_length() > 256 else super().repr_int(x, level)


_REPR = _Repr()
_REPR.maxstring = _REPR.maxother = NAME_CHARACTERS
_REPR_CHARACTERS = 400
