"""A process of its own that claims from a store until nothing is left, and prints the ids it got."""

import asyncio
import sys

from hanbeon.clock import SystemClock
from hanbeon.store.backends import open_store
from hanbeon.store.operations.claim import ClaimRequest


async def claim_all(url: str, instance: int, want: int) -> list[str]:
    store = open_store(url, SystemClock())
    await store.open()
    try:
        ids: list[str] = []
        while jobs := (await store.claim(ClaimRequest(instance, ["t"], want, 3_600_000_000))).jobs:
            ids += [job.id for job in jobs]
        return ids
    finally:
        await store.close()


if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    for job_id in asyncio.run(claim_all(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))):
        print(job_id)
