"""An audit of the database in BENCH_URL, in a process of its own: rows, findings, times and peak memory as JSON."""

from __future__ import annotations

import asyncio
import json
import resource
import time

from bench.adapters.adapter import url
from hanbeon.service.verify import VerifyReport
from hanbeon.surfaces.store_parts import whole_store
from hanbeon.surfaces.verify import verify


async def _audit(address: str) -> VerifyReport:
    store = whole_store(address)
    await store.open()
    try:
        return await verify(store)
    finally:
        await store.close()


def _main(address: str) -> None:
    began_at = time.perf_counter()
    report = asyncio.run(_audit(address))
    used = resource.getrusage(resource.RUSAGE_SELF)
    figures = {
        "events": report.events,
        "jobs": report.jobs,
        "findings": len(report.findings),
        "seconds": time.perf_counter() - began_at,
        "processor": used.ru_utime + used.ru_stime,
        "peak": used.ru_maxrss / 1024,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    _main(url())
