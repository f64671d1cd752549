"""Names of the counters that instances keep of their work, in one place for writers and readers."""

from __future__ import annotations

import enum

_SEPARATOR = "/"


class Total(enum.StrEnum):
    """A kind of counter. Its labels follow the name, as in `fires/skipped/overlap`."""

    FIRES = "fires"
    """By outcome and reason; a history line that stands for several fires counts as that many."""
    RECOVERED = "recovered"
    """Attempts whose lease had expired, by the resulting state of their job."""
    PRUNED = "pruned"
    """Rows deleted by retention, by kind."""
    CHAIN_LOSSES = "chain_losses"
    """Losses of backward operations of chains, from the third in a row on."""

    def of(self, *labels: str) -> str:
        return _SEPARATOR.join((self.value, *labels))


LABELS: dict[Total, tuple[str, ...]] = {
    Total.FIRES: ("outcome", "reason"),
    Total.RECOVERED: ("became",),
    Total.PRUNED: ("kind",),
    Total.CHAIN_LOSSES: (),
}


def labels_of(name: str) -> tuple[Total, tuple[str, ...]]:
    """The inverse of `Total.of`, with an empty string for each label that has no value."""
    kind, *labels = name.split(_SEPARATOR)
    total = Total(kind)
    return total, (*labels, *("" for _ in LABELS[total][len(labels) :]))
