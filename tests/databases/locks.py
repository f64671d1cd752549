"""Detection of lock waits on PostgreSQL, so that a test need not guess how long they take to occur."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg

_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


async def somebody_waits(url: str, waiting: asyncio.Task[Any], least: int = 1) -> bool:
    """Return once so many statements wait for locks in that database; False if the task ends before that."""
    onlooker: Any = await asyncpg.connect(url)
    try:
        while await onlooker.fetchval(_WAITING) < least:
            if waiting.done():
                return False
        return True
    finally:
        await onlooker.close()
