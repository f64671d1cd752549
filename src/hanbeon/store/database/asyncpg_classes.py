"""Groups of asyncpg's exceptions, and a connection of our own; reached through `drivers`, since it loads asyncpg."""

from __future__ import annotations

import asyncpg

ROLLED_BACK = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
# For a broken connection; the last one if it is used after its end but before asyncpg has noticed.
BROKEN = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


class UnresetConnection(asyncpg.Connection):
    """Changes no session state, so there is nothing to reset between two uses."""

    def get_reset_query(self) -> str:
        return ""
