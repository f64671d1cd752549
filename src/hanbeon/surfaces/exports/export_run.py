"""The work of an export: renders the replay, and checks where it was read from and written to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hanbeon.domain.dead_letters import INVALID_OUTPUT_PATH
from hanbeon.errors import PermanentError
from hanbeon.surfaces.exports.errors import InvalidOutputPath
from hanbeon.surfaces.exports.jobs import JobType, output_name
from hanbeon.surfaces.exports.paths import Missing, make_folder_of, open_below
from hanbeon.surfaces.exports.rendering.export_work import ProgressPace, perform
from hanbeon.surfaces.exports.rendering.renderer import Report
from hanbeon.tasks.context import SyncContext

INVALID_INPUT_PATH = "INVALID_INPUT_PATH"


class ContextReport:
    """Writes progress into the job."""

    def __init__(self, ctx: SyncContext) -> None:
        self._ctx, self._pace = ctx, ProgressPace()

    @property
    def cancelled(self) -> bool:
        return self._ctx.stopping

    def progress(self, percent: int, phase: str, message: str) -> None:
        if self._pace.is_due(percent, phase):
            self._ctx.progress({"progress": percent, "phase": phase, "message": message})


def run_export(
    ctx: SyncContext,
    export_id: int,
    job_type: str,
    replay_id: int,
    root: str,
    folder: str,
    options: dict[str, Any],
) -> dict[str, Any]:
    """Render one attempt of an export in the process of a worker."""
    path = Path(root, folder, output_name(JobType(job_type), ctx.fence))
    return render_export(
        Path(root), job_type, {**options, "outputPath": str(path), "fence": ctx.fence}, ContextReport(ctx)
    )


def render_export(root: Path, job_type: str, options: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Render a request into its file below the export root, where each attempt has one of its own.

    Raises PermanentError for what will not pass, and Cancelled.
    """
    try:
        make_folder_of(root, str(options.get("outputPath", "")))
    except InvalidOutputPath as error:
        raise PermanentError(str(error), failure_type=INVALID_OUTPUT_PATH) from None
    done = perform(job_type, options, report)
    check_output(root, done["resultUri"])
    return done


def check_input(root: Path, path: str) -> None:
    """Fail the job for good if its replay is not a file below the folder of replays."""
    try:
        open_below(root, path).close()
    except InvalidOutputPath as error:
        message = f"inputPath must be a file below the folder of replays: {error.why}"
        raise PermanentError(message, failure_type=INVALID_INPUT_PATH) from None
    except Missing:
        raise PermanentError("the file of the replay is gone", failure_type="REPLAY_GONE") from None


def check_output(root: Path, uri: str) -> None:
    """Fail the job for good if its result is outside the export root, or no regular file.

    One that is not there is no reason: its worker may be on another machine, whose files are seen here later or under
    another mount. The download finds out.
    """
    try:
        open_below(root, uri).close()
    except InvalidOutputPath as error:
        raise PermanentError(str(error), failure_type=INVALID_OUTPUT_PATH) from None
    except Missing:
        pass
