"""Regular expressions that values of clients must match, in time proportional to the value."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from hanbeon.extras import extra


class Pattern:
    """A compiled expression of RE2.

    Not of `re`: that tries one way after the other, and 40 characters can keep it busy, and with it the whole process,
    for years.
    """

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    def matches(self, value: str) -> bool:
        """True if the whole value matches."""
        return self._compiled.fullmatch(value) is not None


@lru_cache(maxsize=1_024)
def pattern_of(text: Any) -> Pattern:
    """Compile an expression; ValueError or TypeError says what is wrong with it."""
    if not isinstance(text, str):
        raise TypeError("it is not a text")
    with extra("patterns", "a parameter with a pattern"):
        import re2
    options = re2.Options()
    options.log_errors = False  # They are raised; the log would be the process's standard error.
    try:
        return Pattern(re2.compile(text, options))
    except re2.error as error:
        (said,) = error.args
        raise ValueError(said.decode(errors="replace") if isinstance(said, bytes) else said) from error
