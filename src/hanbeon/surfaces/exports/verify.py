"""Audit of exports: that each has its job, its replay while it is unfinished, and its file once it has succeeded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hanbeon.domain.audit.findings import Finding, FindingCode, Invariant
from hanbeon.domain.lifecycle import State
from hanbeon.service.verify import Audited, SurfaceAudit
from hanbeon.store.tx import Tx
from hanbeon.surfaces.exports.errors import InvalidOutputPath
from hanbeon.surfaces.exports.jobs import QUEUE
from hanbeon.surfaces.exports.paths import Missing, open_below
from hanbeon.surfaces.exports.rows import ExportRecord, export_record
from hanbeon.surfaces.stored_file import FileCode

_AT_ONCE = 500


class ExportCode(FindingCode):
    """The kinds of inconsistency of exports, in the order in which they are reported."""

    STRANDED_EXPORT = "stranded_export", "an export without its job or its replay, or a job of an export without it"


class ExportInvariant(Invariant):
    """The invariants of exports, in the order of their codes."""

    EXPORT_HAS_JOB = "export_has_job", ExportCode.STRANDED_EXPORT, "an export has its job"
    JOB_HAS_EXPORT = "job_has_export", ExportCode.STRANDED_EXPORT, "a job of an export has its export"
    SOURCE_KEPT = "source_kept", ExportCode.STRANDED_EXPORT, "an unfinished export has its replay"
    RESULT_KEPT = "result_kept", FileCode.MISSING_FILE, "an export that has succeeded has its file"


async def export_page(tx: Tx, after: int) -> list[ExportRecord]:
    """Return the next exports after this one."""
    return [export_record(row) for row in await tx.fetch("audit_exports", after, _AT_ONCE)]


async def exports_alone(tx: Tx) -> list[dict[str, Any]]:
    """Return exports without a job, and jobs of exports without one."""
    return [{"kind": row["kind"], "uid": row["uid"]} for row in await tx.fetch("audit_exports_alone")]


async def without_replay(tx: Tx) -> list[dict[str, Any]]:
    """Return the unfinished exports whose replay is gone."""
    rows = await tx.fetch("audit_export_replays")
    return [{"job_id": row["id"], "replay_id": row["replay_id"], "state": row["state"]} for row in rows]


async def verify_exports(tx: Tx, now: int) -> Audited:
    """Check every export. Files are looked for where this machine has their folder."""
    findings, exports, after = list[Finding](), 0, 0
    while page := await export_page(tx, after):
        findings += [found for each in page if (found := _without_file(each)) is not None]
        exports += len(page)
        after = page[-1].id
    for row in await exports_alone(tx):
        alone = "an export has no job" if row["kind"] == "export" else "a job has no export"
        rule = ExportInvariant.EXPORT_HAS_JOB if row["kind"] == "export" else ExportInvariant.JOB_HAS_EXPORT
        findings.append(rule.broken(alone, queue=QUEUE, job_id=row["uid"], rows=(row,)))
    for row in await without_replay(tx):
        message = f"export {row['job_id']} is unfinished, and its replay is gone"
        findings.append(ExportInvariant.SOURCE_KEPT.broken(message, queue=QUEUE, rows=(row,)))
    return Audited({"exports": exports}, findings)


def _without_file(export: ExportRecord) -> Finding | None:
    if export.state is not State.SUCCEEDED or not Path(export.root).is_dir():
        return None
    try:
        open_below(Path(export.root), export.result_uri or "").close()
    except (InvalidOutputPath, Missing) as error:
        row = {"job_id": export.id, "owner": export.owner, "result_uri": export.result_uri, "error": str(error)}
        message = f"export {export.id} has succeeded, and has no file"
        return ExportInvariant.RESULT_KEPT.broken(message, queue=QUEUE, job_id=export.uid, rows=(row,))
    return None


AUDIT = SurfaceAudit(verify_exports, (*ExportInvariant,), QUEUE)
