"""`hanbeon resume`"""

from __future__ import annotations

from hanbeon.cli.options import Database, Json, Queues


def resume(queues: Queues, database: Database = None, json: Json = False) -> None:
    """Resume paused queues."""
    from hanbeon.cli.bulk_queues import change_each

    change_each(database, queues, lambda _: {"paused": False}, create=False, json=json)
