"""Tables and statements of offices, with the words that they use."""

from __future__ import annotations

from pathlib import Path

from hanbeon.store.dialect import quoted
from hanbeon.store.statements import StorePart
from hanbeon.surfaces.offices.delivery.rules import ListenerKind

# Words of views, of q, a queue, and o, its office, and of v, a job of an office: how these are found.
PART = StorePart(
    Path(__file__).parent,
    {"listener_kinds": quoted(ListenerKind)},
    postgres={
        "office_of_queue": "q.name = 'office:' || CAST(o.id AS text)",
        "by_queue": "v.meta IS NOT NULL AND (v.lane >> 32) = v.queue_id",
        "not_by_index": "v.meta IS NOT NULL",
    },
    sqlite={
        # SQLite uses an index on an expression only where the other side of the comparison has no column type, and
        # considers both join orders only if both comparisons are written.
        "office_of_queue": "q.name = 'office:' || CAST(o.id AS text) "
        "AND 'office:' || CAST(o.id AS text) = q.name || ''",
        "by_queue": "v.meta IS NOT NULL AND (v.lane >> 32) = v.queue_id + 0",
        # Without statistics SQLite assumes that a partial index is short.
        "not_by_index": "coalesce(v.meta, '') <> ''",
    },
)
