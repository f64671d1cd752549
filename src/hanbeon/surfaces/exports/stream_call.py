"""Exports over Redis: the messages of the streams `job.…`, as workers in any language know them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

import msgspec

from hanbeon.domain.dead_letters import INVALID_OUTPUT_PATH
from hanbeon.domain.job import Claimed
from hanbeon.domain.outcome import Outcome, Raised, Returned
from hanbeon.errors import PermanentError
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.stream_worker.request import Request
from hanbeon.surfaces.exports.errors import InvalidOutputPath
from hanbeon.surfaces.exports.export_run import check_output
from hanbeon.surfaces.exports.jobs import ExportArgs, JobType, output_name
from hanbeon.tasks.stream_call import Reply, StreamCall

STREAM_NAME = "job"
_args = msgspec.json.Decoder(ExportArgs)


class ExportCall(StreamCall, frozen=True, kw_only=True):
    """`jobId` is the export's number, and its attempt is in the name of its file.

    A result names the file that its attempt was given and no other, below `root`.
    """

    ids_statement: ClassVar[str | None] = "exports_by_number"
    dead_types: ClassVar[frozenset[str]] = frozenset({INVALID_OUTPUT_PATH})

    name: str = STREAM_NAME
    root: str

    def request(self, job: Claimed) -> Request:
        args = _args.decode(job.args)
        path = _path(args.root, args.folder, args.job_type, job.fence)
        return Request(
            job_id=str(args.export_id),
            job_type=args.job_type.value,
            options={**args.options, "outputPath": path, "fence": job.fence},
            more={"replayId": str(args.replay_id)},
        )

    def fence_of(self, result_uri: str) -> int | None:
        stem = PurePosixPath(result_uri).stem
        return int(stem) if stem.isascii() and stem.isdigit() and len(stem) < 19 else None

    def output_path(self, row: Mapping[str, Any], fence: int) -> str | None:
        return _path(row["root"], row["folder"], JobType(row["job_type"]), fence)

    def of_attempt(self, outcome: Outcome, reply: Reply, output_path: str | None) -> Outcome:
        # A regular file below the root may be that of another owner, who would not be asked.
        if not isinstance(outcome, Returned) or reply.result_uri == output_path:
            return outcome
        error = InvalidOutputPath(Rule("output_of_other_attempt", path=quoted(reply.result_uri)))
        return Raised(str(error), INVALID_OUTPUT_PATH, permanent=True)

    def outcome(self, reply: Reply, max_bytes: int) -> Outcome:
        if reply.status == "SUCCEEDED":
            try:
                check_output(Path(self.root), reply.result_uri or "")
            except PermanentError as error:
                return Raised(str(error), INVALID_OUTPUT_PATH, permanent=True)
        # The path and its checksum are the whole result: JSON beside them could name another file.
        return super().outcome(msgspec.structs.replace(reply, result=None), max_bytes)


def _path(root: str, folder: str, job_type: JobType, fence: int) -> str:
    return str(Path(root, folder, output_name(job_type, fence)))
