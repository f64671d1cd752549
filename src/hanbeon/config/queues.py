"""`[queues.NAME]`: the concurrency limits of a queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hanbeon.config.reader import Reader
from hanbeon.domain.job import check_name
from hanbeon.domain.limits import QueueLimits, check_limits
from hanbeon.tasks.options import check_names

Declared = dict[str, dict[str, Any]]


def read_queues(value: Any, reader: Reader) -> Declared:
    """Return the limits that each table names, and no others."""
    queues: Declared = {}
    for name, table in reader.table(value, "queues").items():
        limits = reader.table(table, "queues", name)
        with reader.at("queues", name):
            check_name("name", name, required=True)
            found = reader.every(("queues", name), limits, _limits)
            if found is not None:
                queues[name] = found
    return queues


def _limits(table: Mapping[str, Any]) -> dict[str, Any]:
    check_names(table, QueueLimits.__struct_fields__, "a queue")
    return check_limits(table)
