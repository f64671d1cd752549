"""A TOML document that knows the line of each value."""

from __future__ import annotations

import bisect
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hanbeon.errors import ConfigInvalid, NotFound
from hanbeon.rule import Rule

_MAX_BYTES = 4 * 1024**2
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_HINTS = {
    "Invalid value": 'write text in quotes: name = "text"',
    "Unclosed array": "close it with ]",
    "Invalid statement": "write name = value, or a table like [tasks.build]",
    "Cannot declare": "a table may be declared only once; merge the two",
    "Cannot overwrite": "a name may be set only once; remove one of the two",
    "Invalid date": "write text in quotes",
}


class Document:
    """A parsed file. `path` is as the user gave it; `folder` is what paths in the file are relative to."""

    def __init__(self, path: Path, text: str, folder: Path | None = None) -> None:
        self.path, self.text = path, text
        self.folder = folder or path.absolute().parent
        self.content: dict[str, Any] = self._parsed()

    @classmethod
    def read(cls, path: Path, folder: Path | None = None) -> Document:
        """Read a file; raise if it is missing, unreadable or not TOML.

        `folder` is its folder from an earlier read: a task may have changed the current folder since.
        """
        folder = folder or path.absolute().parent
        here = folder / path.name
        if not here.exists():
            raise NotFound(Rule("no_named_config", path=path))
        if not here.is_file():
            raise ConfigInvalid(str(path), "", Rule("config_not_a_file"))
        try:
            raw = here.read_bytes()
        except OSError as error:
            raise ConfigInvalid(str(path), "", Rule("config_unreadable", error=error.strerror)) from error
        if len(raw) > _MAX_BYTES:
            raise ConfigInvalid(
                str(path),
                "",
                Rule("config_too_large", most=_MAX_BYTES // 1024**2, got=len(raw)),
            )
        try:
            return cls(path, raw.decode("utf-8-sig").replace("\r\n", "\n"), folder)
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            raise ConfigInvalid(str(path), f"line {line}", Rule("config_not_utf")) from error

    def _parsed(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            message = str(error)
            found = _PLACE.search(message)
            line, column = (found[1], found[2]) if found and found[1] else self._end()
            message = message[: found.start()] if found else message
            hint = next((f"; {hint}" for beginning, hint in _HINTS.items() if message.startswith(beginning)), "")
            rule = Rule("foreign_text", text=f"{message}{hint}")
            raise ConfigInvalid(str(self.path), f"line {line}, column {column}", rule) from error
        except (ValueError, RecursionError) as error:
            # A number with thousands of digits, or deeply nested lists.
            raise ConfigInvalid(str(self.path), "", Rule("config_too_deep")) from error

    def _end(self) -> tuple[int, int]:
        lines = self.text.rstrip("\n").split("\n")
        return len(lines), len(lines[-1]) + 1

    def line_of(self, place: Sequence[str]) -> int | None:
        """Return the line on which the place, or else its nearest existing parent, begins.

        A TOML statement takes one or more whole lines. So the statement that defines the place begins on the first
        line such that the file, read up to the end of that statement, contains the place.
        """
        known = _known_part(self.content, place)
        if not known:
            return None
        lines = self.text.split("\n")
        return 1 + bisect.bisect_left(range(len(lines)), True, key=lambda n: _has(lines, n + 1, known))


def _known_part(content: Mapping[str, Any], place: Sequence[str]) -> list[str]:
    """Return the longest beginning of the place that exists."""
    known: list[str] = []
    value: Any = content
    for name in place:
        if not isinstance(value, Mapping) or name not in value:
            break
        known.append(name)
        value = value[name]
    return known


def _has(lines: list[str], count: int, place: list[str]) -> bool:
    """Return whether the first `count` lines, with the rest of the last statement in them, contain the place."""
    for end in range(count, len(lines) + 1):
        try:
            content = tomllib.loads("\n".join(lines[:end]))
        except ValueError:
            continue
        return _known_part(content, place) == place
    return True
