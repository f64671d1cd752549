"""Exports over Redis: the messages of the streams `job.…`, as workers in any language know them."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import ClassVar

import msgspec

from hanbeon.domain.dead_letters import INVALID_OUTPUT_PATH
from hanbeon.domain.exports.jobs import ExportArgs, output_name
from hanbeon.domain.job import Claimed
from hanbeon.domain.outcome import Outcome, Raised
from hanbeon.errors import PermanentError
from hanbeon.stream_worker.request import Request
from hanbeon.surfaces.exports.export_run import check_output
from hanbeon.tasks.stream_call import Reply, StreamCall

STREAM_NAME = "job"
_args = msgspec.json.Decoder(ExportArgs)


class ExportCall(StreamCall, frozen=True, kw_only=True):
    """`jobId` is the export's number, and its attempt is in the name of its file. Results must be below `root`."""

    ids_statement: ClassVar[str | None] = "exports_by_number"
    dead_types: ClassVar[frozenset[str]] = frozenset({INVALID_OUTPUT_PATH})

    name: str = STREAM_NAME
    root: str

    def request(self, job: Claimed) -> Request:
        args = _args.decode(job.args)
        path = Path(args.root, args.folder, output_name(args.job_type, job.fence))
        return Request(
            job_id=str(args.export_id),
            job_type=args.job_type.value,
            options={**args.options, "outputPath": str(path), "fence": job.fence},
            more={"replayId": str(args.replay_id)},
        )

    def fence_of(self, result_uri: str) -> int | None:
        stem = PurePosixPath(result_uri).stem
        return int(stem) if stem.isascii() and stem.isdigit() and len(stem) < 19 else None

    def outcome(self, reply: Reply, max_bytes: int) -> Outcome:
        if reply.status == "SUCCEEDED":
            try:
                check_output(Path(self.root), reply.result_uri or "")
            except PermanentError as error:
                return Raised(str(error), INVALID_OUTPUT_PATH, permanent=True)
        return super().outcome(reply, max_bytes)
