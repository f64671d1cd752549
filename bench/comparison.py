"""Rows that compare ours with each peer, for most tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bench import numbers
from bench.records import Results
from bench.subjects import Store, rival
from bench.table import SUBJECTS

Figure = tuple[str, tuple[str, ...]]
"""A measure, and the fields that may hold its figure, the best one first."""


def compare(
    results: Results,
    scenario: str,
    figures: Sequence[Figure],
    show: Callable[[Sequence[float]], str] = numbers.rate,
    *,
    notes: bool = False,
) -> list[list[str]]:
    """Return a row per subject: its name, its settings (with `notes`), and for each figure its median and ours ÷ it."""
    rows = []
    for name in results.subjects(scenario):
        subject = SUBJECTS.get(name)
        if subject is None:
            continue
        row = [name, subject.note] if notes else [name]
        for measure, fields in figures:
            values = results.figures(scenario, measure, name, *fields)
            row.append(shown(results, scenario, (measure, fields), name, show))
            ours = results.figures(scenario, measure, rival(subject), *fields)
            row.append("" if subject.is_ours else numbers.times(numbers.ratio(ours, values)))
        rows.append(row)
    return rows


def shown(
    results: Results,
    scenario: str,
    figure: Figure,
    subject: str,
    show: Callable[[Sequence[float]], str] = numbers.rate,
) -> str:
    """Return the figure as a table cell; "failed" if it is missing because of an error."""
    measure, fields = figure
    values = results.figures(scenario, measure, subject, *fields)
    return show(values) if values else "failed" if results.errors(scenario, measure, subject) else "–"


def against(results: Results, scenario: str, figure: Figure, peer: str) -> float | None:
    """Return ours divided by this peer's."""
    measure, fields = figure
    ours = results.figures(scenario, measure, rival(SUBJECTS[peer]), *fields)
    return numbers.ratio(ours, results.figures(scenario, measure, peer, *fields))


def against_all(results: Results, scenario: str, figure: Figure, store: Store) -> float | None:
    """Return ours divided by the best peer of this store."""
    found = [
        value
        for subject in SUBJECTS.values()
        if subject.store is store and not subject.is_ours
        if (value := against(results, scenario, figure, subject.name)) is not None
    ]
    return min(found, default=None)
