"""Rows of reminders."""

from __future__ import annotations

from hanbeon.store.tx import Tx


async def keep_text(tx: Tx, text: str) -> int:
    """Keep a text, and return its number."""
    return int((await tx.fetch("keep_reminder_text", text))[0]["id"])


async def kept_texts(tx: Tx) -> list[tuple[int, str]]:
    return [(row["id"], row["text"]) for row in await tx.fetch("reminder_texts")]
