"""The interface of a scenario. A new one is a file in `bench/scenarios/` and an entry in its list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bench.machine import UNKNOWN, Quiet
from bench.records import Results
from bench.rig import Rig


@dataclass(frozen=True)
class Measurement:
    """A finished measurement: its name within the scenario, its figures, and how quiet the machine was before it."""

    measure: str
    values: dict[str, float]
    quiet: Quiet = UNKNOWN


@dataclass(frozen=True)
class Step:
    """One turn of one subject. An error in it is recorded, and the run continues."""

    subject: str
    run: Callable[[], Iterable[Measurement]]


@dataclass(frozen=True)
class Table:
    """A table of the report; the first column names the subject."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Aim:
    """A target for a figure, and the figure; `value` is None if it was not measured."""

    what: str
    value: float | None
    least: float | None = None
    most: float | None = None
    hoped: float | None = None
    unit: str = "×"
    beside: str = ""
    """A further comparison, as text."""

    @property
    def met(self) -> bool | None:
        if self.value is None:
            return None
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)


class Scenario(Protocol):
    """A set of measurements and their report."""

    name: str
    title: str
    by_default: bool
    """Part of a run without `--only`."""
    with_peers: bool
    """Measures the peers too; if no chosen scenario does, none is installed."""

    def steps(self, rig: Rig) -> list[Step]:
        """Return the steps of one repetition. Subjects take turns, so that noise affects all alike."""
        ...

    def tables(self, results: Results) -> list[Table]: ...

    def aims(self, results: Results) -> list[Aim]: ...
