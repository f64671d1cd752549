"""Stream tasks where no Redis is configured: the worker's function runs on the engine's own event loop."""

from __future__ import annotations

from typing import Any, cast

from hanbeon.domain.json_text import to_json_text
from hanbeon.domain.outcome import Outcome, Raised
from hanbeon.domain.retry import FailureType
from hanbeon.errors import InvalidInput
from hanbeon.executors.coroutine import AsyncWork
from hanbeon.executors.executor import Call, Done
from hanbeon.stream_worker.request import WorkCancelled, WorkFailed
from hanbeon.tasks.context import AttemptBackend
from hanbeon.tasks.stream_call import Reply, StreamCall
from hanbeon.tasks.task import STREAM


class StreamExecutor:
    """Runs a worker's function like an async task, and takes its result as that of a remote worker."""

    name = STREAM
    offers_transactions = False
    start_seconds = 0.0
    stop_seconds = 0.0

    def start(self, call: Call, done: Done) -> AsyncWork:
        work = _StreamWork(call, done)
        work.begin()
        return work

    async def close(self) -> None:
        return


class _StreamWork(AsyncWork):
    _output_path: str | None = None

    async def run(self, call: Call) -> Any:
        spec, job = cast(StreamCall, call.task.spec), call.backend.job
        assert spec.work is not None  # Others are not claimed.
        request = spec.request(job)
        self._output_path = request.options.get("outputPath")
        try:
            fields = dict(await spec.work(request, _Reporter(call.backend)))
        except WorkCancelled:
            return Reply(status="CANCELLED")
        except WorkFailed as error:
            return Reply(status="FAILED", error_code=error.code, error_message=str(error), permanent=error.permanent)
        result = to_json_text(fields["result"], "the result", "result") if "result" in fields else None
        uri, checksum = fields.get("resultUri"), fields.get("checksum")
        return Reply(status="SUCCEEDED", result_uri=uri, checksum=checksum, result=result)

    def returned(self, call: Call, value: Any) -> Outcome:
        spec = cast(StreamCall, call.task.spec)
        try:
            return spec.of_attempt(spec.outcome(value, call.max_result_bytes), value, self._output_path)
        except InvalidInput as error:
            return Raised(str(error), FailureType.INVALID, permanent=True)


class _Reporter:
    """Writes progress straight to the database."""

    def __init__(self, backend: AttemptBackend) -> None:
        self._backend, self._percent = backend, 0

    @property
    def cancelled(self) -> bool:
        return self._backend.stopping

    async def progress(self, percent: int, phase: str = "", message: str = "") -> None:
        if self.cancelled:
            raise WorkCancelled
        if percent < self._percent:
            return
        self._percent = percent
        await self._backend.write_progress({"progress": percent, "phase": phase, "message": message})
