"""How many entries of a stream are read at once: few while they are large, since each is held in memory."""

from __future__ import annotations

from collections.abc import Mapping

_MOST = 500
_FIRST = 8
_BYTES = 4 * 1024**2


class ReadPace:
    """Begins with a few entries, and doubles their number while what was read is small."""

    def __init__(self) -> None:
        self.count = _FIRST

    def read(self, size: int) -> None:
        """Note the size of what was read with this count."""
        if size > _BYTES:
            self.count = max(1, self.count * _BYTES // size)
        elif size * 4 <= _BYTES:
            self.count = min(_MOST, self.count * 2)


def size_of(fields: Mapping[str, str] | None) -> int:
    """Return about how many bytes the fields of an entry take."""
    return sum(len(name) + len(value) for name, value in (fields or {}).items())
