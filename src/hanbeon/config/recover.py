"""Recovery from an invalid field of a table: reading continues without it, or with a value that is surely valid.

A removed or inserted value must never cause a problem itself: one problem too few is better than a false one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hanbeon.quotation import nearest

Choices = Mapping[str, Any]
"""Fields of which a table needs one, each with a valid value; for a table, that is a `PartialTable`."""
_VALID_ELEMENT = "true"


class PartialTable:
    """A valid value for a table: its own needs, and a valid value for `each` of its fields where they are alike."""

    def __init__(self, *needs: Choices, each: Any = None) -> None:
        self.needs, self.each = needs, each

    def whole(self) -> dict[str, Any]:
        """Return a valid table."""
        return {name: value for choices in self.needs for name, value in list(choices.items())[:1]}


class Recovery:
    """A table that is read repeatedly, with one invalid field fewer each time."""

    def __init__(self, table: Mapping[str, Any], *needs: Choices) -> None:
        self.table = dict(table)
        self._needs = needs
        self._seen: set[tuple[str, ...]] = set()

    def is_new(self, place: Sequence[str]) -> bool:
        """Return whether the place is still as the author wrote it; a problem of a repaired place is not theirs."""
        return not any(tuple(place[:end]) in self._seen for end in range(1, len(place) + 1)) and (
            bool(place) or () not in self._seen
        )

    def repair(self, place: Sequence[str]) -> bool:
        """Replace or remove the invalid value, or rename a misspelt field; return whether anything changed."""
        self._seen.add(tuple(place))
        return _repair(self.table, list(place), PartialTable(*self._needs))


def _repair(table: dict[str, Any], place: list[str], within: PartialTable) -> bool:
    if not place:
        return any(_rename(table, name, within) for name in list(table))
    name, *inner = place
    value, valid = table.get(name), _valid_value(name, within)
    if inner and isinstance(value, Mapping):
        table[name] = copy = dict(value)
        return _repair(copy, inner, valid if isinstance(valid, PartialTable) else PartialTable())
    if inner and isinstance(value, list) and inner[0].isdecimal() and int(inner[0]) < len(value):
        table[name] = [*value[: int(inner[0])], _VALID_ELEMENT, *value[int(inner[0]) + 1 :]]
        return True
    if isinstance(valid, PartialTable):
        valid = valid.whole() or None
    if valid is not None:
        table[name] = valid
        return True
    if name not in table:
        return False
    if not _rename(table, name, within):
        del table[name]
    return True


def _valid_value(name: str, within: PartialTable) -> Any:
    return next((choices[name] for choices in within.needs if name in choices), within.each)


def _rename(table: dict[str, Any], name: str, within: PartialTable) -> bool:
    """Rename a field to the missing required field that it is probably a misspelling of."""
    for choices in within.needs:
        if not choices.keys() & table.keys() and (near := nearest(name, choices)):
            table[near[0]] = table.pop(name)
            return True
    return False
