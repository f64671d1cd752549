"""`[queues.NAME]`: how much of a queue may run at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hanbeon.config.reader import Reader
from hanbeon.domain.job import check_name
from hanbeon.domain.limits import QueueLimits, check_limits
from hanbeon.tasks.options import check_names

Declared = dict[str, dict[str, Any]]


def read_queues(told: Any, reading: Reader) -> Declared:
    """The limits that each table names, and no others."""
    queues: Declared = {}
    for name, table in reading.table(told, "queues").items():
        limits = reading.table(table, "queues", name)
        with reading.at("queues", name):
            check_name("name", name, required=True)
            found = reading.every(("queues", name), limits, _limits)
            if found is not None:
                queues[name] = found
    return queues


def _limits(table: Mapping[str, Any]) -> dict[str, Any]:
    check_names(table, QueueLimits.__struct_fields__, "a queue")
    return check_limits(table)
