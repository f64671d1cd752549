"""Replays and exports as an audit reads them."""

from __future__ import annotations

from typing import Any

from hanbeon.store.tx import Tx
from hanbeon.surfaces.exports.replays.rows import ReplayRecord, replay_record
from hanbeon.surfaces.exports.rows import ExportRecord, export_record

_AT_ONCE = 500


async def replay_page(tx: Tx, after: int) -> list[ReplayRecord]:
    """Return the next replays after this one; none at the end."""
    return [replay_record(row) for row in await tx.fetch("audit_replays", after, _AT_ONCE)]


async def export_page(tx: Tx, after: int) -> list[ExportRecord]:
    """Return the next exports after this one."""
    return [export_record(row) for row in await tx.fetch("audit_exports", after, _AT_ONCE)]


async def wrong_usage(tx: Tx) -> list[dict[str, Any]]:
    """Return the users whose noted space is not the sum of their replays."""
    rows = await tx.fetch("audit_replay_usage")
    return [{"owner": row["owner"], "used": int(row["used"]), "noted": int(row["noted"])} for row in rows]


async def exports_alone(tx: Tx) -> list[dict[str, Any]]:
    """Return exports without a job, and jobs of exports without one."""
    return [{"kind": row["kind"], "uid": row["uid"]} for row in await tx.fetch("audit_exports_alone")]


async def without_replay(tx: Tx) -> list[dict[str, Any]]:
    """Return the unfinished exports whose replay is gone."""
    rows = await tx.fetch("audit_export_replays")
    return [{"job_id": row["id"], "replay_id": row["replay_id"], "state": row["state"]} for row in rows]
