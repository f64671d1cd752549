"""Replays and exports as text."""

from __future__ import annotations

from rich.text import Text

from hanbeon.cli.output import Cell
from hanbeon.quotation import plain
from hanbeon.surfaces.exports.replays.schemas import Replay
from hanbeon.surfaces.exports.schemas import Export
from hanbeon.surfaces.exports.vocabulary import ExportStatus

EXPORT_HEADINGS = ("export", "type", "replay", "status", "progress", "created", "message")
REPLAY_HEADINGS = ("replay", "bytes", "seconds", "created", "name", "title")
_STYLES = {
    ExportStatus.QUEUED: "dim",
    ExportStatus.RUNNING: "bold yellow",
    ExportStatus.SUCCEEDED: "green",
    ExportStatus.FAILED: "bold red",
    ExportStatus.CANCELLED: "dim",
}


def export_row(export: Export) -> list[Cell]:
    return [
        str(export.job_id),
        export.job_type.value,
        str(export.replay_id),
        Text(export.status.value, _STYLES[export.status]),
        f"{export.progress} %",
        export.created_at,
        plain(export.error_message or export.message),
    ]


def replay_row(replay: Replay) -> list[Cell]:
    return [
        str(replay.replay_id),
        f"{replay.bytes:,}",
        f"{replay.duration_ms / 1_000:g}",
        replay.created_at,
        plain(replay.name),
        plain(replay.title),
    ]


def export_facts(export: Export) -> list[tuple[str, Cell | None]]:
    return [
        ("export", str(export.job_id)),
        ("type", export.job_type.value),
        ("replay", str(export.replay_id)),
        ("status", Text(export.status.value, _STYLES[export.status])),
        ("progress", f"{export.progress} %"),
        ("phase", plain(export.phase)),
        ("message", plain(export.message)),
        ("result", export.result_uri),
        ("checksum", export.result_checksum),
        ("error", export.error_code),
        ("error message", None if export.error_message is None else plain(export.error_message)),
        ("created", export.created_at),
        ("started", export.started_at),
        ("ended", export.ended_at),
    ]
