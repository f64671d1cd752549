"""Tables and statements of schedules, with the words that they use, and what retention deletes."""

from __future__ import annotations

from pathlib import Path

import msgspec

from hanbeon.store.dialect import quoted, text_sizes
from hanbeon.store.operations.retention import AgedRows, Retention, counts, deletes
from hanbeon.store.statements import StorePart
from hanbeon.surfaces.schedules.definition import Definition
from hanbeon.surfaces.schedules.vocabulary import FireOutcome


def _default(field: str) -> str:
    return str(next(each.default for each in msgspec.structs.fields(Definition) if each.name == field))


PART = StorePart(
    Path(__file__).parent,
    {
        "fire_outcomes": quoted(FireOutcome),
        # Of s, a schedule, and t, its task: the columns of a record, and the size of the texts that a list shows.
        "schedule_columns": "s.id, s.name, s.task_id, t.name AS task, s.definition, s.paused, s.considered_to, "
        "s.timed_since, s.next_fire_at, s.due_at, s.last_fire_at, s.waiting, s.declared, s.deleted_at, s.version, "
        "s.created_by, s.created_at, s.changed_at",
        "schedule_bytes": text_sizes("s.definition", "s.declared", "s.waiting"),
        # Of f, a fire: older than $1. A schedule keeps its last fire, however old.
        "prunable_fire": "f.recorded_at < (SELECT hanbeon.now()) - $1 AND f.fire_at <> coalesce((SELECT s.last_fire_at "
        "FROM hanbeon.schedule AS s WHERE s.id = f.schedule_id), f.fire_at + 1)",
        "default_overlap": _default("overlap"),
        "default_misfire": _default("misfire"),
        "default_misfire_limit": _default("misfire_limit"),
    },
)


RETENTION = Retention(
    aged=(AgedRows("fires", deletes("prune_fires"), counts("count_prunable_fires")),),
)
