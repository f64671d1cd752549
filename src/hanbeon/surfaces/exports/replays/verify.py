"""Audit of replays: that each has its file, and that the space of each user is counted right."""

from __future__ import annotations

from pathlib import Path

from hanbeon.domain.audit.findings import Finding, FindingCode
from hanbeon.service.verify import Audited, SurfaceAudit
from hanbeon.store.tx import Tx
from hanbeon.surfaces.exports import audit_rows as audit
from hanbeon.surfaces.exports.replays.rows import ReplayRecord
from hanbeon.surfaces.stored_file import FileCode


class ReplayCode(FindingCode):
    """The kinds of inconsistency of replays, in the order in which they are reported."""

    WRONG_USAGE = "wrong_usage", "the space noted for a user's replays is not their sum"


async def verify_replays(tx: Tx, now: int) -> Audited:
    """Check every replay. Files are looked for where this machine has their folder."""
    findings, replays, after = list[Finding](), 0, 0
    while page := await audit.replay_page(tx, after):
        for each in page:
            if not _has_file(each):
                row = {"replay_id": each.id, "owner": each.owner, "file": each.file}
                findings.append(
                    Finding(code=FileCode.MISSING_FILE, message=f"replay {each.id} has no file", rows=(row,))
                )
        replays += len(page)
        after = page[-1].id
    for row in await audit.wrong_usage(tx):
        message = f"the replays of {row['owner']!r} have {row['used']:,} bytes, and {row['noted']:,} are noted"
        findings.append(Finding(code=ReplayCode.WRONG_USAGE, message=message, rows=(row,)))
    return Audited({"replays": replays}, findings)


def _has_file(replay: ReplayRecord) -> bool:
    root = Path(replay.root)
    return not root.is_dir() or (root / replay.file).is_file()


AUDIT = SurfaceAudit(verify_replays, (*FileCode, *ReplayCode))
