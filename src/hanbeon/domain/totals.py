"""What instances count of their work: the names of numbers that only grow, in one place for writers and readers."""

from __future__ import annotations

import enum

_BETWEEN = "/"


class Total(enum.StrEnum):
    """What is counted. Behind it come the labels of a number, like `fires/skipped/overlap`."""

    FIRES = "fires"
    """By outcome and reason; a line of the history that stands for more counts as so many."""
    RECOVERED = "recovered"
    """Attempts whose lease had expired, by the state that their job came to."""
    PRUNED = "pruned"
    """Rows that retention took, by what they were."""

    def of(self, *labels: str) -> str:
        return _BETWEEN.join((self.value, *labels))


LABELS: dict[Total, tuple[str, ...]] = {
    Total.FIRES: ("outcome", "reason"),
    Total.RECOVERED: ("became",),
    Total.PRUNED: ("kind",),
}


def labels_of(name: str) -> tuple[Total, tuple[str, ...]]:
    """The reverse of `of`, with an empty text for each label that has no value."""
    kind, *labels = name.split(_BETWEEN)
    total = Total(kind)
    return total, (*labels, *("" for _ in LABELS[total][len(labels) :]))
