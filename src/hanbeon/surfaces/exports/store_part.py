"""Tables and statements of replays and exports, with the words that they use, and what retention deletes."""

from __future__ import annotations

from pathlib import Path

from hanbeon.domain.job import RESERVED
from hanbeon.store.dialect import quoted
from hanbeon.store.operations.retention import Retention
from hanbeon.store.statements import StorePart
from hanbeon.surfaces.exports.jobs import JobType, task_of

PART = StorePart(
    Path(__file__).parent,
    {
        "export_types": quoted(JobType),
        # In two parts: with its dot it would be taken for the name of the schema.
        "export_tasks": ", ".join(f"'{RESERVED[:-1]}' || '{task_of(each)[len(RESERVED) - 1 :]}'" for each in JobType),
        # The columns of the records of r, a replay, and of e, an export, with j, its job.
        "replay_columns": "r.id, r.uid, r.owner, r.name, r.title, r.root, r.file, r.bytes, r.checksum, r.duration_ms, "
        "r.created_at",
        "export_columns": "e.id, e.uid, e.job_type, e.owner, e.replay_id, e.root, e.folder, e.options, e.progress, "
        "e.phase, e.message, e.result_uri, e.result_checksum, e.created_at, j.state, j.started_at, j.finished_at, "
        "j.failure_type, j.error_message",
    },
)


RETENTION = Retention(of_jobs=("unwant_pruned_exports", "prune_exports"))
