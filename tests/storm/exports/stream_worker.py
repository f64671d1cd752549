"""A cheap worker of exports, to be killed: `export_stream_worker REDIS JOURNAL`. The width of a video tells its fate.

It notes each file that it has published in the journal: its path and digest.
"""

from __future__ import annotations

import asyncio
import enum
import secrets
import sys
from pathlib import Path

from hanbeon.stream_worker import Reporter, Request, Result, StreamWorker, WorkFailed
from hanbeon.surfaces.exports.rendering.renderer import publish, sha256_of, temporary_beside
from tests.storm.journal import write_line

FOREIGN_URI = "/etc/passwd"


class Fate(enum.IntEnum):
    """The end of a video, by its width."""

    SUCCEED = 160
    SLOW = 162
    LONG = 164
    FAIL = 166
    FOREIGN = 168


_SECONDS = {Fate.SLOW: 0.2, Fate.LONG: 2.0}
_REPORTS = 4


async def work(request: Request, report: Reporter) -> Result:
    fate = Fate(request.options["width"])
    await report.progress(20, "one")
    for part in range(_REPORTS if fate in _SECONDS else 0):
        await asyncio.sleep(_SECONDS[fate] / _REPORTS)
        await report.progress(21 + part, "two")
    if fate is Fate.FAIL:
        raise WorkFailed("BROKEN", "as asked", permanent=True)
    if fate is Fate.FOREIGN:
        return {"resultUri": FOREIGN_URI, "checksum": "00"}
    path = Path(request.options["outputPath"])
    path.parent.mkdir(parents=True, exist_ok=True)
    with temporary_beside(path) as temporary:
        temporary.write_bytes(f"{request.job_id} {secrets.token_hex(16)}".encode())
        digest = sha256_of(temporary)
        if publish(temporary, path):
            write_line(sys.argv[2], f"published {path} {digest}")
    await report.progress(80, "three")
    return {"resultUri": str(path), "checksum": sha256_of(path)}


if __name__ == "__main__":
    asyncio.run(StreamWorker(sys.argv[1], "job", {"MP4": work}, concurrency=16, take_over=2.0).run())
