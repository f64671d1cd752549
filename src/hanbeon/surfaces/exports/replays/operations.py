"""Operations of replays, as data for the server, the client and the docs."""

from __future__ import annotations

from hanbeon.domain.access import Need
from hanbeon.errors import NotMultipart
from hanbeon.surfaces.exports.errors import (
    ReplayInUse,
    ReplayInvalid,
    ReplayNotFound,
    ReplayQuotaExceeded,
    ReplayTooLarge,
)
from hanbeon.surfaces.exports.replays import schemas
from hanbeon.surfaces.operation import Operation

_REPLAYS = "/api/replays"
_REPLAY = f"{_REPLAYS}/{{replayId}}"

OPERATIONS = (
    Operation(
        *("POST", _REPLAYS, Need.WRITE, "create", "Upload a replay, as the file `file` of a form."),
        responses={201: schemas.Replay},
        creates=True,
        by=True,
        upload="receive",
        location=f"{_REPLAYS}/{{result.replay_id}}",
        links={"replayId": "$response.body#/replayId"},
        errors=(NotMultipart, ReplayInvalid, ReplayTooLarge, ReplayQuotaExceeded),
    ),
    Operation(
        *("GET", _REPLAYS, Need.READ, "list", "List your replays, newest first."),
        request=schemas.ReplayQuery,
        responses={200: schemas.ReplayPage},
        by=True,
    ),
    Operation(
        *("GET", _REPLAY, Need.READ, "get", "Show a replay of yours."),
        responses={200: schemas.Replay},
        by=True,
        errors=(ReplayNotFound,),
    ),
    Operation(
        *("DELETE", _REPLAY, Need.WRITE, "delete", "Delete a replay of yours of which no export is unfinished."),
        responses={204: None},
        by=True,
        errors=(ReplayNotFound, ReplayInUse),
    ),
)
