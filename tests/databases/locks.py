"""Detection of lock waits on PostgreSQL, so that a test need not guess how long they take to occur."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg

_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


async def somebody_waits(url: str, waiting: asyncio.Task[Any]) -> bool:
    """Return once a statement waits for a lock in that database; False if the task ends without having waited."""
    onlooker: Any = await asyncpg.connect(url)
    try:
        while not await onlooker.fetchval(_WAITING):
            if waiting.done():
                return False
        return True
    finally:
        await onlooker.close()
