"""Doctored databases: ways to break each invariant of a healthy one that holds everything, which verify must find.

A part of the product that has invariants has a module `doctorings` in its folder of tests, with `live`, which fills its
tables, and `DOCTORINGS`. What is to stay unfinished begins in `leave`, after all parts have run whatever can run: it
runs nothing more. Each doctoring gets a copy of the database that all parts have filled.
"""

from __future__ import annotations

import importlib
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from hanbeon import App
from hanbeon.domain.audit.findings import FindingCode, Invariant
from hanbeon.service.verify import VerifyReport, render
from hanbeon.store.backends import open_store
from hanbeon.store.store import Store
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.store_parts import add_surfaces
from hanbeon.testing import TestKit
from hanbeon.testing.clock import VirtualClock
from tests.databases.fixtures import find_installation, migrated_database
from tests.databases.run import ServerRun
from tests.service.raw_sql import run_sql

LIBRARY = "tests.surfaces.chains.operations_library"


class Patient(NamedTuple):
    """A copy of the healthy database, to be broken. `facts`: what its part knows of what it has put there."""

    store: Store
    clock: VirtualClock
    facts: Any

    async def sql(self, text: str, *values: Any) -> list[Any]:
        """Run a statement behind the store's back, in the portable words of `dialect.py`."""
        return list(await run_sql(self.store, text, *values))


class Doctoring(NamedTuple):
    """A way to break an invariant. `also`: codes of what it breaks besides.

    Its function answers with the id of the job or the schedule that a finding must name, or None.
    """

    name: str
    part: str
    invariant: Invariant
    also: tuple[FindingCode, ...]
    only: str | None
    doctor: Callable[[Patient], Awaitable[str | None]]

    @property
    def words(self) -> str:
        return self.name.replace("_", " ")


class Doctorings(list[Doctoring]):
    """The doctorings of one part."""

    def __init__(self, part: str) -> None:
        super().__init__()
        self.part = part

    def breaks(
        self, invariant: Invariant, *also: FindingCode, only: str | None = None
    ) -> Callable[[Callable[[Patient], Awaitable[str | None]]], Callable[[Patient], Awaitable[str | None]]]:
        """Register a way to break an invariant; `only` names the store that has what it breaks."""

        def register(doctor: Callable[[Patient], Awaitable[str | None]]) -> Callable[[Patient], Awaitable[str | None]]:
            name = getattr(doctor, "__name__", "")
            self.append(Doctoring(name, self.part, invariant, also, only, doctor))
            return doctor

        return register

    def script(self, invariant: Invariant, name: str, text: str, *also: FindingCode, only: str | None = None) -> None:
        """Register statements, apart by semicolons, that break an invariant."""

        async def doctor(patient: Patient) -> None:
            for statement in text.split(";"):
                await patient.sql(statement)

        self.append(Doctoring(name.replace(" ", "_"), self.part, invariant, also, only, doctor))


class Part(Protocol):
    """The module of a part."""

    DOCTORINGS: Doctorings

    async def live(self, kit: TestKit) -> Any: ...


ENGINE = "tests.service.doctorings"


def part_of(name: str) -> Part | None:
    """Return the part of a surface; None if its folder of tests has none, as one has that lies in another."""
    if not (Path(__file__).parent / "surfaces" / name / "doctorings.py").exists():
        return None
    return cast(Part, importlib.import_module(f"tests.surfaces.{name}.doctorings"))


def parts() -> dict[str, Part]:
    """Return the parts of all surfaces, and last the engine's: nothing may take over what that leaves running."""
    found = {each.name: part for each in SURFACES if (part := part_of(each.name)) is not None}
    return {**found, "engine": cast(Part, importlib.import_module(ENGINE))}


def every_doctoring() -> list[Doctoring]:
    return [doctoring for part in parts().values() for doctoring in part.DOCTORINGS]


class Clinic(NamedTuple):
    """A healthy database and what is known of it; it gives out copies."""

    copy: Callable[[], AbstractContextManager[str]]
    now_us: int
    facts: Mapping[str, Any]

    @asynccontextmanager
    async def patient(self, part: str) -> AsyncIterator[Patient]:
        with self.copy() as url:
            clock = VirtualClock(self.now_us)
            store = add_surfaces(open_store(url, clock))
            await store.open()
            try:
                await clock.attach(store)
                yield Patient(store, clock, self.facts[part])
            finally:
                await store.close()


async def fill(url: str, folder: Path, found: Mapping[str, Part]) -> tuple[int, dict[str, Any]]:
    """Let every part live in the database; return the instant after that, and what each knows."""
    app = App(
        chain_libraries=LIBRARY,
        outbound_allow_private=True,
        jobs_export_path=str(folder / "exports"),
        replay_path=str(folder / "replays"),
    )
    async with TestKit(app, url, limit=120) as kit:
        facts = {name: await part.live(kit) for name, part in found.items()}
        for name, part in found.items():
            if (leave := getattr(part, "leave", None)) is not None:
                facts[name] = await leave(kit, facts[name])
        await kit.app.store.number_events()
    return kit.clock.now_us(), facts


@asynccontextmanager
async def clinic(store: str, servers: ServerRun, folder: Path, found: Mapping[str, Part]) -> AsyncIterator[Clinic]:
    """Open a clinic with a healthy database on `sqlite` or `postgres`."""
    if store == "sqlite":
        healthy = folder / "healthy.db"
        shutil.copy(servers.migrated_file(), healthy)
        now_us, facts = await fill(f"sqlite:///{healthy}", folder, found)
        yield Clinic(lambda: file_copy(healthy), now_us, facts)
        return
    installation = find_installation(servers, store)
    with migrated_database(servers, installation) as url:
        now_us, facts = await fill(url, folder, found)
        name = url.rpartition("/")[2]
        yield Clinic(lambda: servers.shared(installation).database(name), now_us, facts)


@contextmanager
def file_copy(file: Path) -> Iterator[str]:
    """Give the URL of a copy of a SQLite file, for a while."""
    copy = file.with_name("patient.db")
    shutil.copy(file, copy)
    try:
        yield f"sqlite:///{copy}"
    finally:
        for path in copy.parent.glob(f"{copy.name}*"):
            path.unlink()


def problem(doctoring: Doctoring, named: str | None, report: VerifyReport) -> str | None:
    """Return the report if it is not the one that the doctoring deserves."""
    found = [finding for finding in report.findings if finding.invariant is doctoring.invariant]
    subjects = {None, *(each.job_id for each in found), *(each.schedule_id for each in found)}
    codes = {finding.code for finding in report.findings}
    deserved = codes == {doctoring.invariant.code, *doctoring.also} and found and named in subjects
    return None if deserved else render(report)


def unmatched(invariants: Iterable[Invariant], doctorings: Iterable[Doctoring]) -> tuple[set[str], set[str]]:
    """Return the invariants that nothing breaks, and the doctorings of no invariant."""
    known, broken = set(invariants), {each.invariant: each.name for each in doctorings}
    return {str(each) for each in known - broken.keys()}, {name for rule, name in broken.items() if rule not in known}
