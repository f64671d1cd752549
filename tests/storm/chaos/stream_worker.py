"""A worker of the stream tasks, to be killed: `stream_worker REDIS JOURNAL`."""

from __future__ import annotations

import asyncio
import sys

from hanbeon.stream_worker import Reporter, Request, Result, StreamWorker
from tests.processes.owner import end_with_the_owner
from tests.processes.process import READY
from tests.storm.chaos.tasks import STREAM
from tests.storm.journal import write_line


async def work(request: Request, report: Reporter) -> Result:
    await report.progress(50)
    write_line(sys.argv[2], f"did {request.job_id} {request.fence}")
    return {"result": request.fence}


if __name__ == "__main__":
    end_with_the_owner()
    print(READY, flush=True)
    worker = StreamWorker(sys.argv[1], STREAM, {"streamed": work}, concurrency=16, take_over=3.0, heartbeat=2.0)
    asyncio.run(worker.run())
