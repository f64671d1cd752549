"""Write workers for stream tasks. A worker needs Redis, and neither the database nor the server.

The same function runs in-process where no Redis is configured:

    async def work(request: Request, report: Reporter) -> Result:
        await report.progress(50, "rendering")
        return {"resultUri": request.options["outputPath"], "checksum": digest}
"""

from hanbeon.stream_worker.request import Reporter, Request, Result, Work, WorkCancelled, WorkFailed
from hanbeon.stream_worker.worker import StreamWorker

__all__ = ["Reporter", "Request", "Result", "StreamWorker", "Work", "WorkCancelled", "WorkFailed"]
