"""A text that is kept, and ways to break the invariants of reminders. Run as a program, it shows that each is found.

In a process of its own: the tables would be those of all databases of the tests.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from hanbeon.clock import SystemClock
from hanbeon.store.backends import open_store
from hanbeon.store.store import Store
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.store_parts import add_surfaces
from hanbeon.surfaces.verify import verify
from hanbeon.testing.clock import VirtualClock
from tests.clinic import Doctorings, Patient, file_copy, problem, unmatched
from tests.surfaces.reminders.rows import keep_text
from tests.surfaces.reminders.surface import SURFACE
from tests.surfaces.reminders.verify import ReminderInvariant


async def live(store: Store) -> None:
    await store.write(lambda tx: keep_text(tx, "tea"))


DOCTORINGS = Doctorings("reminders")
DOCTORINGS.script(ReminderInvariant.TEXT_KEPT, "a text is empty", "UPDATE hanbeon.reminder_text SET text = ''")


async def _opened(url: str) -> Store:
    store = add_surfaces(open_store(url, SystemClock()), [*SURFACES, SURFACE])
    await store.open()
    return store


async def _examine(folder: Path) -> dict[str, str | None]:
    """Return each doctoring that verify did not find as it should, and why."""
    healthy = folder / "healthy.db"
    store = await _opened(f"sqlite:///{healthy}")
    await live(store)
    assert (await verify(store, [SURFACE])).findings == ()
    await store.close()
    found = {}
    for doctoring in DOCTORINGS:
        with file_copy(healthy) as url:
            store = await _opened(url)
            named = await doctoring.doctor(Patient(store, VirtualClock(), None))
            found[doctoring.name] = problem(doctoring, named, await verify(store, [SURFACE]))
            await store.close()
    return {name: text for name, text in found.items() if text is not None}


def _main() -> None:
    assert unmatched(ReminderInvariant, DOCTORINGS) == (set(), set())
    with tempfile.TemporaryDirectory() as folder:
        missed = asyncio.run(_examine(Path(folder)))
    sys.stdout.write(f"{len(DOCTORINGS)} doctorings, missed: {missed or 'none'}\n")


if __name__ == "__main__":
    _main()
