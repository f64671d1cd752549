"""The stores that simulations run on."""

from __future__ import annotations

from hanbeon.testing.simulation import FaultKind
from hanbeon.testing.simulation.database import SimulatedStore
from tests.databases.account import Account
from tests.databases.installations import Installation, installations

SQLITE, POSTGRES = "sqlite", "postgres"
STORES = (SQLITE, POSTGRES)


def kinds_of(name: str) -> tuple[FaultKind, ...]:
    """Return the faults that are simulated on this store."""
    if name == SQLITE:
        return tuple(FaultKind)
    from hanbeon.testing.simulation.postgres import KINDS

    return KINDS


def store_of(name: str) -> SimulatedStore | None:
    """Return the store of this name; None: SQLite, which simulations take by themselves."""
    return None if name == SQLITE else postgres(installations()[0])


def postgres(installation: Installation) -> SimulatedStore:
    from hanbeon.testing.simulation.postgres import PostgresStore, Programs

    account = Account.choose()
    return PostgresStore(Programs(installation.bindir, account.identity.get("user"), account.identity.get("group")))
