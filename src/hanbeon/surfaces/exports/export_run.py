"""The body of an export's job: renders the replay in a process that can be killed, and checks the result's path."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from hanbeon.domain.exports.jobs import JobType, output_name
from hanbeon.errors import InvalidOutputPath, PermanentError
from hanbeon.rendering.export_work import perform
from hanbeon.surfaces.exports.paths import Missing, open_below
from hanbeon.tasks.context import SyncContext

INVALID_OUTPUT_PATH = "INVALID_OUTPUT_PATH"
_REPORT_SECONDS = 0.5


class ContextReport:
    """Writes progress into the job: when the percent or the phase has changed, and not too often."""

    def __init__(self, ctx: SyncContext) -> None:
        self._ctx = ctx
        self._last: tuple[int, str] = (-1, "")
        self._due = 0.0

    @property
    def cancelled(self) -> bool:
        return self._ctx.stopping

    def progress(self, percent: int, phase: str, message: str) -> None:
        now = time.monotonic()
        if (percent, phase) == self._last or (now < self._due and phase == self._last[1] and percent < 100):
            return
        self._last, self._due = (percent, phase), now + _REPORT_SECONDS
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
    """Render one attempt of an export, into a file of its own."""
    place = Path(root, folder)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = place / output_name(JobType(job_type), ctx.fence)
    done = perform(JobType(job_type), {**options, "outputPath": str(path), "fence": ctx.fence}, ContextReport(ctx))
    check_output(Path(root), done["resultUri"])
    return done


def check_output(root: Path, uri: str) -> None:
    """Fail the job for good if its result is not a file below the export root."""
    try:
        open_below(root, uri).close()
    except InvalidOutputPath as error:
        raise PermanentError(str(error), failure_type=INVALID_OUTPUT_PATH) from None
    except Missing:
        raise PermanentError(f"there is no file at {uri[:200]!r}", failure_type=INVALID_OUTPUT_PATH) from None
