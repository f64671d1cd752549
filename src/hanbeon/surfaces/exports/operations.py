"""Operations of exports, as data for the server, the client and the docs."""

from __future__ import annotations

from hanbeon.domain.access import Need
from hanbeon.surfaces.exports import schemas
from hanbeon.surfaces.exports.errors import (
    ExportEnded,
    ExportNotFound,
    InvalidOutputPath,
    ReplayNotFound,
    ResultGone,
    ResultNotReady,
)
from hanbeon.surfaces.exports.jobs import MEDIA_TYPES
from hanbeon.surfaces.operation import Channel, ClientCall, Operation
from hanbeon.surfaces.schema import Explanation

_EXPORTS = "/api/replays/{replayId}/exports"
_JOBS = "/api/jobs"
_JOB = f"{_JOBS}/{{jobId}}"

OPERATIONS = (
    Operation(
        *("POST", f"{_EXPORTS}/mp4", Need.WRITE, "export_mp4", "Export a replay of yours to a video."),
        request=schemas.NewVideo,
        body_optional=True,
        responses={202: schemas.ExportCreated},
        creates=True,
        by=True,
        location=f"{_JOBS}/{{result.job_id}}",
        errors=(ReplayNotFound,),
    ),
    Operation(
        *("POST", f"{_EXPORTS}/thumbnail", Need.WRITE, "export_thumbnail", "Export a picture of a replay of yours."),
        request=schemas.NewThumbnail,
        body_optional=True,
        responses={202: schemas.ExportCreated},
        creates=True,
        by=True,
        location=f"{_JOBS}/{{result.job_id}}",
        errors=(ReplayNotFound,),
    ),
    Operation(
        *("GET", _JOBS, Need.READ, "list", "List your exports, newest first."),
        request=schemas.ExportQuery,
        responses={200: schemas.ExportPage},
        by=True,
    ),
    Operation(
        *("GET", _JOB, Need.READ, "get", "Show an export of yours."),
        responses={200: schemas.Export},
        by=True,
        client=ClientCall(ended=lambda export: not export.is_unfinished),
        errors=(ExportNotFound,),
    ),
    Operation(
        *("POST", f"{_JOB}/cancel", Need.WRITE, "cancel", "Cancel an export: 200 once cancelled, 202 while it stops."),
        responses={200: schemas.Export, 202: schemas.Export},
        result=schemas.CancelAnswer,
        part="job",
        accepted="stopping",
        by=True,
        idempotent=True,
        errors=(ExportNotFound, ExportEnded),
    ),
    Operation(
        *("GET", f"{_JOB}/result", Need.READ, "result", "Download the file of an export that has succeeded."),
        responses={200: None},
        by=True,
        downloads=tuple(MEDIA_TYPES.values()),
        errors=(ExportNotFound, ResultNotReady, ResultGone, InvalidOutputPath),
    ),
    Operation(
        *("GET", f"{_JOB}/explain", Need.READ, "explain", "Explain why an export does not run."),
        responses={200: Explanation},
        by=True,
        errors=(ExportNotFound,),
    ),
)

CHANNELS = (
    Channel(
        websocket="/ws/jobs",
        sse=f"{_JOBS}/events",
        need=Need.READ,
        call="following",
        summary="Stream the events of your exports: their present progress first, or resuming after the event `after`.",
        event=schemas.ExportEvent,
        by=True,
    ),
)
