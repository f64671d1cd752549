"""The work of an export: a request's type and options in, progress, and the result's path and checksum out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hanbeon.errors import InvalidInput, PermanentError, ReplayInvalid
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.surfaces.exports.rendering.render_options import HEIGHTS, RATES, WIDTHS, RenderOptions
from hanbeon.surfaces.exports.rendering.renderer import Rendered, Report, render_thumbnail, render_video
from hanbeon.surfaces.exports.rendering.replay_format import DURATION_MOST_MS

_RENDER = {"MP4": render_video, "THUMBNAIL": render_thumbnail}


def perform(job_type: str, options: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Render `options["inputPath"]` to `options["outputPath"]`. Failures that will not pass are permanent errors.

    Raises Cancelled if the report says so.
    """
    try:
        render = _RENDER[job_type]
        done: Rendered = render(Path(options["inputPath"]), Path(options["outputPath"]), _chosen(options), report)
    except KeyError as error:
        raise PermanentError(f"the request lacks {error}", failure_type="INVALID_REQUEST") from None
    except ReplayInvalid as error:
        raise PermanentError(str(error), failure_type="INVALID_REPLAY") from None
    except InvalidInput as error:
        raise PermanentError(str(error), failure_type="INVALID_OPTIONS") from None
    except FileNotFoundError as error:
        if error.filename != options["inputPath"] and str(error.filename) != str(options["inputPath"]):
            raise
        raise PermanentError("the file of the replay is gone", failure_type="REPLAY_GONE") from None
    return {"resultUri": str(done.path), "checksum": done.checksum}


def _chosen(options: Mapping[str, Any]) -> RenderOptions:
    default = RenderOptions()
    return RenderOptions(
        width=_whole(options, "width", default.width, WIDTHS, even=True),
        height=_whole(options, "height", default.height, HEIGHTS, even=True),
        fps=_whole(options, "fps", default.fps, RATES),
        start_ms=_whole(options, "startMs", default.start_ms, (0, DURATION_MOST_MS)),
        length_ms=_whole(options, "lengthMs", default.length_ms, (0, DURATION_MOST_MS)),
    )


def _whole(options: Mapping[str, Any], name: str, default: int, bounds: tuple[int, int], *, even: bool = False) -> int:
    """Read an option again, though the server has validated it: a request may come from elsewhere."""
    value = options.get(name, default)
    least, most = bounds
    if type(value) is not int or not least <= value <= most or (even and value % 2):
        kind = "an even integer" if even else "an integer"
        raise InvalidInput(
            Rule("must_be", what=Rule("kind_from_to", kind=kind, low=least, high=most), got=quoted(value)), field=name
        )
    return value


_SECONDS = 0.5


class ProgressPace:
    """Lets a report pass if its percent or phase is another, and if it is the last or the last one was a while ago."""

    def __init__(self) -> None:
        self._last: tuple[int, str] = (-1, "")
        self._due = 0.0

    def is_due(self, percent: int, phase: str) -> bool:
        now = time.monotonic()
        if (percent, phase) == self._last or (now < self._due and phase == self._last[1] and percent < 100):
            return False
        self._last, self._due = (percent, phase), now + _SECONDS
        return True
