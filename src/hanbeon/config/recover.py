"""How to read on in a table of which a field does not fit: without that field, or with one that surely does.

What is left out or put in must never be the cause of a problem itself: rather one too few is told than one too many.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

Choices = Mapping[str, Any]
"""Fields of which a table needs one, each with a value that fits; a table's is `Within`."""
_FITTING_ELEMENT = "true"


class PartialTable:
    """Stands for a table: what it needs in turn, and a value that fits `each` of its fields, where they are alike."""

    def __init__(self, *needs: Choices, each: Any = None) -> None:
        self.needs, self.each = needs, each

    def whole(self) -> dict[str, Any]:
        """A table that fits."""
        return {name: value for choices in self.needs for name, value in list(choices.items())[:1]}


class Recovery:
    """A table that is read again and again, with less and less of what does not fit."""

    def __init__(self, table: Mapping[str, Any], *needs: Choices) -> None:
        self.table = dict(table)
        self._needs = needs
        self._seen: set[tuple[str, ...]] = set()

    def is_news(self, place: Sequence[str]) -> bool:
        """Whether nothing has been done there yet. If something has, what is said of it now is not the author's."""
        return not any(tuple(place[:end]) in self._seen for end in range(1, len(place) + 1)) and (
            bool(place) or () not in self._seen
        )

    def mend(self, place: Sequence[str]) -> bool:
        """Take away what does not fit there, or a wrong name if it is nowhere; whether there was anything to do."""
        self._seen.add(tuple(place))
        return _mend(self.table, list(place), PartialTable(*self._needs))


def _mend(table: dict[str, Any], place: list[str], within: PartialTable) -> bool:
    if not place:
        return any(_rename(table, name, within) for name in list(table))
    name, *inner = place
    told, fitting = table.get(name), _fitting(name, within)
    if inner and isinstance(told, Mapping):
        table[name] = inside = dict(told)
        return _mend(inside, inner, fitting if isinstance(fitting, PartialTable) else PartialTable())
    if inner and isinstance(told, list) and inner[0].isdecimal() and int(inner[0]) < len(told):
        table[name] = [*told[: int(inner[0])], _FITTING_ELEMENT, *told[int(inner[0]) + 1 :]]
        return True
    if isinstance(fitting, PartialTable):
        fitting = fitting.whole() or None
    if fitting is not None:
        table[name] = fitting
        return True
    if name not in table:
        return False
    if not _rename(table, name, within):
        del table[name]
    return True


def _fitting(name: str, within: PartialTable) -> Any:
    return next((choices[name] for choices in within.needs if name in choices), within.each)


def _rename(table: dict[str, Any], name: str, within: PartialTable) -> bool:
    """What is needed and not there may have been meant by a name that nobody knows."""
    for choices in within.needs:
        if not choices.keys() & table.keys() and (near := difflib.get_close_matches(name, choices, n=1)):
            table[near[0]] = table.pop(name)
            return True
    return False
