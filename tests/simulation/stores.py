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


def store_of(name: str, installation: Installation | None = None) -> SimulatedStore | None:
    """Return the store of this name, with this PostgreSQL or the newest; None: SQLite, the default of simulations."""
    if name == SQLITE:
        return None
    found = [installation] if installation else installations()
    if not found:
        raise SystemExit("there is no PostgreSQL on this machine; `make setup` installs one")
    return postgres(found[0])


def postgres(installation: Installation) -> SimulatedStore:
    from hanbeon.testing.simulation.postgres import PostgresStore, Programs

    account = Account.choose()
    return PostgresStore(Programs(installation.bindir, account.identity.get("user"), account.identity.get("group")))
