"""`hanbeon pause`"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hanbeon.cli.options import Create, Database, Json, Queues

if TYPE_CHECKING:
    from hanbeon.app import App
    from hanbeon.store.operations.queues import QueueRecord


def pause(queues: Queues, database: Database = None, create: Create = False, json: Json = False) -> None:
    """Pause queues on every worker. Running jobs finish; no more are started."""
    from hanbeon.cli.bulk_queues import change_each

    change_each(database, queues, _pause, create=create, json=json)


async def _pause(app: App, name: str, _: object) -> QueueRecord:
    return await app.pause(name)
