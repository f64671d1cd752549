"""The records of a run, as stored in JSON."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[1]
HOME = ROOT / ".bench"
RESULTS = HOME / "results"


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One measurement, or the reason why there is none."""

    scenario: str
    measure: str
    subject: str
    rep: int
    values: dict[str, float] = {}
    error: str | None = None
    at: str = ""
    load: float = 0.0
    idle: float = 0.0


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """The time, command, machine and versions of a run."""

    began_at: str
    command: str
    machine: dict[str, str]
    versions: dict[str, str]


class Results(msgspec.Struct, kw_only=True):
    """Everything measured in one run."""

    context: Context
    records: list[Record]

    def figures(self, scenario: str, measure: str, subject: str, *fields: str) -> list[float]:
        """Return one figure per repetition: the first of `fields` that the record has."""
        found = []
        for record in self._of(scenario, measure, subject):
            found += [record.values[field] for field in fields if field in record.values][:1]
        return found

    def errors(self, scenario: str, measure: str, subject: str) -> list[str]:
        """Return the errors of a measure; an error without a measure belongs to all of them."""
        records = self._of(scenario, measure, subject) + self._of(scenario, "", subject)
        return [record.error for record in records if record.error is not None]

    def subjects(self, scenario: str) -> list[str]:
        return list(dict.fromkeys(record.subject for record in self.records if record.scenario == scenario))

    def _of(self, scenario: str, measure: str, subject: str) -> list[Record]:
        key = (scenario, measure, subject)
        return [each for each in self.records if (each.scenario, each.measure, each.subject) == key]


def now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def save(results: Results) -> Path:
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{results.context.began_at.replace(':', '').replace('+0000', 'Z')}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1))
    return path


def load(paths: Iterable[Path]) -> Results:
    """Merge the records of several runs, with the machine of the newest one."""
    runs = [msgspec.json.decode(path.read_bytes(), type=Results) for path in paths]
    runs.sort(key=lambda run: run.context.began_at)
    contexts = [run.context for run in runs]
    context = msgspec.structs.replace(
        contexts[-1],
        command="; ".join(dict.fromkeys(each.command for each in contexts)),
        versions={name: version for each in contexts for name, version in each.versions.items()},
    )
    return Results(context=context, records=[record for run in runs for record in run.records])


def latest() -> list[Path]:
    """Return the newest stored run, if there is one."""
    return sorted(RESULTS.glob("*.json"))[-1:]
