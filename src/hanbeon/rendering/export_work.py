"""The work of an export: a request's type and options in, the result's path and checksum out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hanbeon.errors import InvalidInput, PermanentError, ReplayInvalid
from hanbeon.rendering.render_options import RenderOptions
from hanbeon.rendering.renderer import Rendered, Report, render_thumbnail, render_video

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
        width=options.get("width", default.width),
        height=options.get("height", default.height),
        fps=options.get("fps", default.fps),
        start_ms=options.get("startMs", default.start_ms),
        length_ms=options.get("lengthMs", default.length_ms),
    )
