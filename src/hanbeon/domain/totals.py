"""Counters that instances keep of their work in the database, each with the metric that shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

_SEPARATOR = "/"


class Total(msgspec.Struct, frozen=True):
    """A kind of counter. Its labels follow the name, as in `fires/skipped/overlap`."""

    name: str
    metric: str
    help: str
    labels: tuple[str, ...] = ()

    def of(self, *labels: str) -> str:
        """Return the name of the counter with these labels."""
        return _SEPARATOR.join((self.name, *labels))


RECOVERED = Total(
    "recovered",
    "hanbeon_recovered_attempts",
    "Attempts whose lease expired, by the resulting state of their jobs",
    ("became",),
)
PRUNED = Total("pruned", "hanbeon_pruned_rows", "Rows pruned after their retention", ("kind",))


def by_labels(totals: Iterable[Total], counted: Mapping[str, int]) -> dict[Total, dict[tuple[str, ...], int]]:
    """Return the counters of these kinds by their labels, with an empty text for each label that has no value."""
    found: dict[Total, dict[tuple[str, ...], int]] = {total: {} for total in totals}
    kinds = {total.name: total for total in found}
    for name, value in counted.items():
        kind, *labels = name.split(_SEPARATOR)
        if (total := kinds.get(kind)) is not None:
            found[total][*labels, *("" for _ in total.labels[len(labels) :])] = value
    return found
