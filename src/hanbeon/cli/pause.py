"""`hanbeon pause`"""

from __future__ import annotations

from hanbeon.cli.options import Create, Database, Json, Queues


def pause(queues: Queues, database: Database = None, create: Create = False, json: Json = False) -> None:
    """Pause queues on every worker. Running jobs finish; no more are started."""
    from hanbeon.cli.bulk_queues import change_each

    change_each(database, queues, lambda _: {"paused": True}, create=create, json=json)
