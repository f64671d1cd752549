"""Commands that change queues: `hanbeon limit`, `pause` and `resume`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.completion import queue_names
from hanbeon.cli.options import Create, Database, Json, Queues
from hanbeon.quotation import quoted
from hanbeon.rule import Rule

if TYPE_CHECKING:
    from hanbeon.domain.limits import QueueLimits


def limit(
    queue: Annotated[
        str, typer.Argument(metavar="QUEUE", help="The queue's name.", autocompletion=queue_names, show_default=False)
    ],
    database: Database = None,
    max_concurrent: Annotated[
        int | None, typer.Option(metavar="N", help="The most jobs of the queue that run at once.", show_default=False)
    ] = None,
    max_per_key: Annotated[
        int | None, typer.Option(metavar="N", help="The most jobs of each concurrency key.", show_default=False)
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=N", help="The most jobs of this role; may be repeated.", show_default=False),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=N", help="The most jobs of this key; may be repeated.", show_default=False),
    ] = None,
    create: Create = False,
    json: Json = False,
) -> None:
    """Change the concurrency limits of a queue, which hold across all workers. 0 removes a limit; others stay."""
    from hanbeon.cli.bulk_queues import change_each
    from hanbeon.errors import InvalidInput

    roles, keys = _numbers(role or [], "role"), _numbers(key or [], "key")
    if max_concurrent is None and max_per_key is None and not roles and not keys:
        raise InvalidInput(Rule("no_limit_given"), field="limit")

    def changes(now: QueueLimits) -> dict[str, Any]:
        given = {
            "max_concurrent": max_concurrent,
            "max_per_key": max_per_key,
            "roles": _merged(now.roles, roles),
            "keys": _merged(now.keys, keys),
        }
        return {name: value for name, value in given.items() if value is not None}

    change_each(database, [queue], changes, create=create, json=json)


def _numbers(pairs: list[str], field: str) -> dict[str, int]:
    from hanbeon.errors import InvalidInput

    numbers = {}
    for pair in pairs:
        name, _, number = pair.rpartition("=")
        if not name or not (number.isascii() and number.isdigit()):
            raise InvalidInput(Rule("must_be", what=Rule("name_and_number"), got=quoted(pair)), field=field)
        numbers[name] = int(number)
    return numbers


def _merged(now: Mapping[str, int], changes: Mapping[str, int]) -> dict[str, int] | None:
    """Return the limits with the changes, or None to keep them. Zeros are kept: for a key, 0 overrides max_per_key."""
    return {**now, **changes} if changes else None


def pause(queues: Queues, database: Database = None, create: Create = False, json: Json = False) -> None:
    """Pause queues on every worker. Running jobs finish; no more are started."""
    from hanbeon.cli.bulk_queues import change_each

    change_each(database, queues, lambda _: {"paused": True}, create=create, json=json)


def resume(queues: Queues, database: Database = None, json: Json = False) -> None:
    """Resume paused queues."""
    from hanbeon.cli.bulk_queues import change_each

    change_each(database, queues, lambda _: {"paused": False}, create=False, json=json)
