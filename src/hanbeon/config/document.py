"""A TOML file as it was read, which can say on which line something stands."""

from __future__ import annotations

import bisect
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hanbeon.errors import ConfigInvalid, NotFound

_LARGEST = 4 * 1024**2
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_HINTS = {
    "Invalid value": 'write text in quotes: name = "text"',
    "Unclosed array": "close it with ]",
    "Invalid statement": "write name = value, or a table like [tasks.build]",
    "Cannot declare": "a table may be there once; put both together",
    "Cannot overwrite": "a name may be there once; remove one of the two",
    "Invalid date": "write text in quotes",
}


class Document:
    """What a file says, and where. `path` is as somebody wrote it; `folder` is what its own paths are relative to."""

    def __init__(self, path: Path, text: str, folder: Path | None = None) -> None:
        self.path, self.text = path, text
        self.folder = folder or path.absolute().parent
        self.said: dict[str, Any] = self._parsed()

    @classmethod
    def read(cls, path: Path, folder: Path | None = None) -> Document:
        """Raises for a file that is not there, cannot be read, or is no TOML.

        `folder` is where it was when it was read before: a task may have gone to another folder since.
        """
        folder = folder or path.absolute().parent
        here = folder / path.name
        if not here.exists():
            raise NotFound(f"there is no file {path}; check --config or HANBEON_CONFIG")
        if not here.is_file():
            raise ConfigInvalid(str(path), "", "it is no file; name a TOML file")
        try:
            raw = here.read_bytes()
        except OSError as error:
            raise ConfigInvalid(str(path), "", f"it cannot be read: {error.strerror}; check its permissions") from error
        if len(raw) > _LARGEST:
            raise ConfigInvalid(str(path), "", f"it is larger than {_LARGEST // 1024**2} MiB; is it the right file?")
        try:
            return cls(path, raw.decode("utf-8-sig").replace("\r\n", "\n"), folder)
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            raise ConfigInvalid(str(path), f"line {line}", "it is not UTF-8; save it in that encoding") from error

    def _parsed(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            why = str(error)
            found = _PLACE.search(why)
            line, column = (found[1], found[2]) if found and found[1] else self._end()
            why = why[: found.start()] if found else why
            hint = next((f"; {hint}" for beginning, hint in _HINTS.items() if why.startswith(beginning)), "")
            raise ConfigInvalid(str(self.path), f"line {line}, column {column}", f"{why}{hint}") from error
        except (ValueError, RecursionError) as error:
            # A number of thousands of digits, lists within lists within lists.
            raise ConfigInvalid(str(self.path), "", "it cannot be read: a value is too long or too deep") from error

    def _end(self) -> tuple[int, int]:
        lines = self.text.rstrip("\n").split("\n")
        return len(lines), len(lines[-1]) + 1

    def line_of(self, place: Sequence[str]) -> int | None:
        """The line on which the place begins, or else what it is in.

        TOML has one statement a line, or more lines than one. So the statement that brings the place begins on the
        first line with which the file, read up to the end of that statement, has it.
        """
        known = _known_part(self.said, place)
        if not known:
            return None
        lines = self.text.split("\n")
        return 1 + bisect.bisect_left(range(len(lines)), True, key=lambda n: _has(lines, n + 1, known))


def _known_part(said: Mapping[str, Any], place: Sequence[str]) -> list[str]:
    known: list[str] = []
    here: Any = said
    for name in place:
        if not isinstance(here, Mapping) or name not in here:
            break
        known.append(name)
        here = here[name]
    return known


def _has(lines: list[str], count: int, place: list[str]) -> bool:
    """Whether the first lines have it, and those that the last of them needs to be read at all."""
    for end in range(count, len(lines) + 1):
        try:
            said = tomllib.loads("\n".join(lines[:end]))
        except ValueError:
            continue
        return _known_part(said, place) == place
    return True
