"""A write that changes nothing, to find out if the database takes any."""

from __future__ import annotations

from hanbeon.store.tx import Tx


async def probe_write(tx: Tx) -> None:
    await tx.fetch("probe_write")
