"""Audit of replays: that each has its file, and that the space of each user is counted right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hanbeon.domain.audit.findings import Finding, FindingCode, Invariant
from hanbeon.service.verify import Audited, SurfaceAudit
from hanbeon.store.tx import Tx
from hanbeon.surfaces.exports.replays.rows import ReplayRecord, replay_record
from hanbeon.surfaces.stored_file import FileCode

_AT_ONCE = 500


class ReplayCode(FindingCode):
    """The kinds of inconsistency of replays, in the order in which they are reported."""

    WRONG_USAGE = "wrong_usage", "the space noted for a user's replays is not their sum"


class ReplayInvariant(Invariant):
    """The invariants of replays, in the order of their codes."""

    REPLAY_HAS_FILE = "replay_has_file", FileCode.MISSING_FILE, "a replay has its file"
    USAGE_NOTED = "usage_noted", ReplayCode.WRONG_USAGE, "the space noted for a user is the sum of their replays"


async def replay_page(tx: Tx, after: int) -> list[ReplayRecord]:
    """Return the next replays after this one; none at the end."""
    return [replay_record(row) for row in await tx.fetch("audit_replays", after, _AT_ONCE)]


async def wrong_usage(tx: Tx) -> list[dict[str, Any]]:
    """Return the users whose noted space is not the sum of their replays."""
    rows = await tx.fetch("audit_replay_usage")
    return [{"owner": row["owner"], "used": int(row["used"]), "noted": int(row["noted"])} for row in rows]


async def verify_replays(tx: Tx, now: int) -> Audited:
    """Check every replay. Files are looked for where this machine has their folder."""
    findings, replays, after = list[Finding](), 0, 0
    while page := await replay_page(tx, after):
        for each in page:
            if not _has_file(each):
                row = {"replay_id": each.id, "owner": each.owner, "file": each.file}
                message = f"replay {each.id} has no file"
                findings.append(ReplayInvariant.REPLAY_HAS_FILE.broken(message, rows=(row,)))
        replays += len(page)
        after = page[-1].id
    for row in await wrong_usage(tx):
        message = f"the replays of {row['owner']!r} have {row['used']:,} bytes, and {row['noted']:,} are noted"
        findings.append(ReplayInvariant.USAGE_NOTED.broken(message, rows=(row,)))
    return Audited({"replays": replays}, findings)


def _has_file(replay: ReplayRecord) -> bool:
    root = Path(replay.root)
    return not root.is_dir() or (root / replay.file).is_file()


AUDIT = SurfaceAudit(verify_replays, (*ReplayInvariant,))
