"""Operations of the engine's surface, as data."""

from __future__ import annotations

from hanbeon.domain.access import Need
from hanbeon.domain.lifecycle import TERMINAL
from hanbeon.errors import (
    ArgumentsDoNotFit,
    IdAlreadyUsed,
    JobNotFound,
    LimitsSetElsewhere,
    MovedElsewhere,
    NotFound,
    RedisUnavailable,
    TokenAlreadyCreated,
    TokenNotFound,
    UniqueKeyTaken,
    UnknownTask,
    WrongState,
)
from hanbeon.surfaces.engine import schemas
from hanbeon.surfaces.engine.overview import EngineOverview
from hanbeon.surfaces.operation import Channel, ClientCall, Operation
from hanbeon.surfaces.schema import Explanation, Log

_ENGINE = "/api/engine"
_JOBS = f"{_ENGINE}/jobs"
_JOB = f"{_JOBS}/{{jobId}}"
_QUEUES = f"{_ENGINE}/queues"
_INSTANCE = f"{_ENGINE}/instances/{{number}}"
_TOKENS = f"{_ENGINE}/tokens"
_LETTERS = f"{_ENGINE}/deadletters"
_LETTER = f"{_LETTERS}/{{letterId}}"

_JOB_OPERATIONS = [
    Operation(
        *("GET", _JOBS, Need.READ, "jobs", "Search all jobs, newest first, one page at a time."),
        polled=True,
        request=schemas.EngineJobQuery,
        responses={200: schemas.EngineJobPage},
    ),
    Operation(
        *("POST", _JOBS, Need.ADMIN, "enqueue", "Create a job of a registered task, or a copy of a job."),
        request=schemas.NewEngineJob,
        responses={201: schemas.EngineJob},
        creates=True,
        location=f"{_JOBS}/{{result.id}}",
        errors=(UnknownTask, ArgumentsDoNotFit, IdAlreadyUsed, MovedElsewhere),
        links={"jobId": "$response.body#/id"},
    ),
    # Before the paths with an id in this place.
    Operation(
        *("POST", f"{_JOBS}/bulk", Need.ADMIN, "bulk", "Cancel or retry the jobs that match, a batch at a time."),
        request=schemas.Bulk,
        responses={200: schemas.BulkDone},
    ),
    Operation(
        *("GET", _JOB, Need.READ, "job", "Return a job with its timeline, attempts and dependencies."),
        responses={200: schemas.EngineJobDetail},
        errors=(JobNotFound,),
        client=ClientCall(ended=lambda job: job.state in TERMINAL),
    ),
    Operation(
        *("GET", f"{_JOB}/log", Need.READ, "log", "Return the output, also of a running job; resume with `after`."),
        request=schemas.EngineLogQuery,
        responses={200: Log},
        errors=(JobNotFound,),
    ),
    Operation(
        *("GET", f"{_JOB}/explain", Need.READ, "explain", "Explain why a job is not running."),
        responses={200: Explanation},
        errors=(JobNotFound,),
    ),
    Operation(
        *("POST", f"{_JOB}/cancel", Need.ADMIN, "cancel", "Cancel a job: 200 once cancelled, 202 while it stops."),
        responses={200: schemas.EngineJob, 202: schemas.EngineJob},
        errors=(JobNotFound, WrongState, MovedElsewhere),
        idempotent=True,
        result=schemas.EngineCancelAnswer,
        part="job",
        accepted="stopping",
    ),
    Operation(
        *("POST", f"{_JOB}/retry", Need.ADMIN, "retry", "Run a failed or cancelled job again."),
        request=schemas.EngineRetry,
        body_optional=True,
        responses={200: schemas.EngineJob},
        errors=(JobNotFound, WrongState, UniqueKeyTaken, MovedElsewhere),
    ),
    Operation(
        *("POST", f"{_JOB}/mark-done", Need.ADMIN, "mark_done", "Mark a failed or cancelled job as done, and say why."),
        request=schemas.EngineMarkDone,
        responses={200: schemas.EngineJob},
        errors=(JobNotFound, WrongState, MovedElsewhere),
        idempotent=True,
    ),
    Operation(
        *("PATCH", f"{_JOB}/priority", Need.ADMIN, "reprioritise", "Change the priority of a job."),
        request=schemas.EnginePriority,
        responses={200: schemas.EngineJob},
        errors=(JobNotFound, WrongState, MovedElsewhere),
        idempotent=True,
        client=ClientCall(method="priority"),
    ),
]

_INSTALLATION_OPERATIONS = [
    Operation(
        *("GET", f"{_ENGINE}/overview", Need.READ, "overview", "Return the numbers of the whole installation."),
        polled=True,
        responses={200: EngineOverview},
    ),
    Operation(
        *("GET", _QUEUES, Need.READ, "queues", "List the queues with their limits and statistics, one page at a time."),
        polled=True,
        request=schemas.QueueQuery,
        responses={200: schemas.EngineQueues},
    ),
    Operation(
        *(
            "PATCH",
            f"{_QUEUES}/{{name}}",
            Need.ADMIN,
            "change_queue",
            "Change the limits of a queue, pause or resume it.",
        ),
        request=schemas.QueueChange,
        responses={200: schemas.EngineQueue},
        errors=(NotFound, LimitsSetElsewhere),
        idempotent=True,
    ),
    Operation(
        *("GET", f"{_ENGINE}/instances", Need.READ, "instances", "List the workers and what each of them runs."),
        polled=True,
        responses={200: schemas.EngineInstances},
    ),
    Operation(
        *("POST", f"{_INSTANCE}/drain", Need.ADMIN, "drain", "Tell a worker to claim nothing more."),
        responses={200: schemas.EngineInstance},
        errors=(NotFound,),
        idempotent=True,
    ),
    Operation(
        *("POST", f"{_INSTANCE}/resume", Need.ADMIN, "resume", "Let a drained worker claim again."),
        responses={200: schemas.EngineInstance},
        errors=(NotFound,),
        idempotent=True,
    ),
    Operation(
        *("GET", f"{_ENGINE}/statistics", Need.READ, "statistics", "Return throughput, waits and runs over time."),
        polled=True,
        request=schemas.StatisticsQuery,
        responses={200: schemas.EngineStatistics},
    ),
    Operation(
        *("GET", f"{_ENGINE}/failures", Need.READ, "failures", "Group the latest failures by task and error."),
        polled=True,
        request=schemas.FailureQuery,
        responses={200: schemas.FailureGroups},
    ),
    Operation(
        *("GET", f"{_ENGINE}/actions", Need.ADMIN, "actions", "List who did what, newest first."),
        request=schemas.ActionQuery,
        responses={200: schemas.ActionPage},
    ),
    Operation(
        *("GET", _TOKENS, Need.ADMIN, "tokens", "List the tokens, without their secrets."),
        responses={200: schemas.Tokens},
    ),
    Operation(
        *("POST", _TOKENS, Need.ADMIN, "create_token", "Create a token; its text is shown this once."),
        request=schemas.NewTokenRequest,
        responses={201: schemas.CreatedToken},
        creates=True,
        secret=True,
        errors=(TokenAlreadyCreated,),
    ),
    Operation(
        *("DELETE", f"{_TOKENS}/{{number}}", Need.ADMIN, "revoke_token", "Revoke a token for good."),
        responses={200: schemas.Token},
        errors=(TokenNotFound,),
        idempotent=True,
    ),
    Operation(
        *("GET", _LETTERS, Need.ADMIN, "deadletters", "List messages of stream workers that could not be used."),
        request=schemas.DeadLetterQuery,
        responses={200: schemas.DeadLetterPage},
        errors=(RedisUnavailable,),
    ),
    Operation(
        *("GET", _LETTER, Need.ADMIN, "deadletter", "Return a dead letter."),
        responses={200: schemas.DeadLetter},
        errors=(NotFound, RedisUnavailable),
    ),
    Operation(
        *("POST", f"{_LETTER}/republish", Need.ADMIN, "republish_deadletter", "Put a message back into its stream."),
        responses={200: schemas.DeadLetter},
        errors=(NotFound, RedisUnavailable),
    ),
    Operation(
        *("DELETE", _LETTER, Need.ADMIN, "drop_deadletter", "Delete a dead letter for good."),
        responses={200: schemas.DeadLetter},
        errors=(NotFound, RedisUnavailable),
    ),
    Operation(
        *("GET", f"{_ENGINE}/settings", Need.ADMIN, "settings", "List the settings in force, secrets masked."),
        responses={200: schemas.EngineSettings},
    ),
]

CHANNELS = [
    Channel(
        websocket="/ws/engine/events",
        sse=f"{_ENGINE}/events",
        need=Need.READ,
        call="following",
        summary="Stream the moves of all jobs, resuming after the event `after`.",
        event=schemas.EngineEvent,
    ),
    Channel(
        websocket="/ws/engine/changes",
        sse=f"{_ENGINE}/changes",
        need=Need.READ,
        call="changes",
        summary="Stream a hint when something has changed, at most once a second; `after` has no effect.",
        event=schemas.EngineChange,
    ),
]

OPERATIONS = [*_JOB_OPERATIONS, *_INSTALLATION_OPERATIONS]
