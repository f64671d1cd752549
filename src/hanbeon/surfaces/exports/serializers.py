"""Results of exports, made from the engine's records."""

from __future__ import annotations

from datetime import tzinfo

from hanbeon.clock import iso
from hanbeon.domain.lifecycle import State
from hanbeon.surfaces.exports.rows import ExportRecord
from hanbeon.surfaces.exports.schemas import Export
from hanbeon.surfaces.exports.vocabulary import error_code, status_of


def export_view(record: ExportRecord, zone: tzinfo, waiting: str | None = None) -> Export:
    """The result of a record, with instants in the zone of the installation."""
    failed = record.state is State.FAILED
    return Export(
        job_id=record.id,
        job_type=record.job_type,
        replay_id=record.replay_id,
        status=status_of(record.state),
        progress=record.progress,
        phase=record.phase,
        message=record.message,
        result_uri=record.result_uri,
        result_checksum=record.result_checksum,
        error_code=error_code(record.state, record.failure_type),
        error_message=record.error_message if failed else None,
        created_at=iso(record.created_at, zone, "milliseconds") or "",
        started_at=iso(record.started_at, zone, "milliseconds"),
        ended_at=iso(record.finished_at, zone, "milliseconds"),
        waiting=waiting,
    )
