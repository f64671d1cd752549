"""`hanbeon resume`"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hanbeon.cli.options import Database, Json, Queues

if TYPE_CHECKING:
    from hanbeon.app import App
    from hanbeon.store.operations.queues import QueueRecord


def resume(queues: Queues, database: Database = None, json: Json = False) -> None:
    """Resume paused queues."""
    from hanbeon.cli.bulk_queues import change_each

    change_each(database, queues, _resume, create=False, json=json)


async def _resume(app: App, name: str, _: object) -> QueueRecord:
    return await app.resume(name)
