"""An upload in a process that ends at a chosen moment, as if killed: `killed_upload DATABASE ROOT MOMENT`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator

from hanbeon import App
from hanbeon.surfaces.service import random_id
from tests.surfaces.exports.export_kit import SAMPLE

MOMENTS = ("before the file", "within the file", "before the row", "after the row", "after the deletion")


async def main(database: str, root: str, moment: str) -> None:
    def at(reached: str) -> None:
        if reached == moment:
            os._exit(9)

    async def parts() -> AsyncIterator[bytes]:
        data = SAMPLE.read_bytes()
        yield data[:1_000]
        at("within the file")
        yield data[1_000:]

    async with App(database, replay_path=root) as app:
        if moment == "before the file":
            os.open = lambda *args, **fields: os._exit(9)
        async with app.replays.receive(parts(), name="replay.jsonl") as upload:
            at("before the row")
            replay = await app.replays.create(upload, new_id=random_id)
            at("after the row")
        os.unlink = lambda *args, **fields: os._exit(9)
        await app.replays.delete(replay)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
