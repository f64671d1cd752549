"""Audit of reminders."""

from __future__ import annotations

from hanbeon.domain.audit.findings import FindingCode, Invariant
from hanbeon.service.verify import Audited, SurfaceAudit
from hanbeon.store.tx import Tx
from tests.surfaces.reminders.rows import kept_texts


class ReminderCode(FindingCode):
    """The kinds of inconsistency of reminders."""

    EMPTY_TEXT = "empty_reminder_text", "a text that is kept has no characters"


class ReminderInvariant(Invariant):
    """The invariants of reminders."""

    TEXT_KEPT = "text_kept", ReminderCode.EMPTY_TEXT, "a text that is kept has characters"


async def verify_reminders(tx: Tx, now: int) -> Audited:
    texts = await kept_texts(tx)
    empty = [ReminderInvariant.TEXT_KEPT.broken(f"text {number} is empty") for number, text in texts if not text]
    return Audited({"reminder_texts": len(texts)}, empty)


AUDIT = SurfaceAudit(verify_reminders, (*ReminderInvariant,))
