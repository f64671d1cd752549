"""Operations and event streams of offices, as data."""

from __future__ import annotations

from hanbeon.domain.access import Need
from hanbeon.errors import Busy, Conflict, IdAlreadyUsed, JobNotFound, WrongState
from hanbeon.surfaces.offices import schemas
from hanbeon.surfaces.offices.errors import OfficeNotFound, WebhookNotFound
from hanbeon.surfaces.offices.vocabulary import FINISHED
from hanbeon.surfaces.operation import Channel, ClientCall, Operation
from hanbeon.surfaces.schema import Explanation, Log

_OFFICES = "/api/offices"
_OFFICE = f"{_OFFICES}/{{id}}"
_SCHEDULER = f"{_OFFICE}/scheduler"
_JOBS = f"{_OFFICE}/jobs"
_JOB = f"{_JOBS}/{{jobId}}"
_WEBHOOK = f"{_OFFICE}/webhooks/{{webhookId}}"
_DELIVERIES = f"{_WEBHOOK}/deliveries"

_NO_JOB = (OfficeNotFound, JobNotFound)
_NO_WEBHOOK = (OfficeNotFound, WebhookNotFound)

_OFFICE_OPERATIONS = [
    Operation(
        *("POST", _OFFICES, Need.ADMIN, "create", "Create an office."),
        request=schemas.OfficeBody,
        responses={201: schemas.Office},
        creates=True,
        versioned=True,
        location=f"{_OFFICES}/{{result.id}}",
        links={"id": "$response.body#/id"},
    ),
    Operation(
        *("GET", _OFFICES, Need.READ, "list", "List offices, one page at a time."),
        request=schemas.OfficeQuery,
        responses={200: schemas.OfficePage},
    ),
    Operation(
        *("GET", _OFFICE, Need.READ, "get", "Return an office."),
        responses={200: schemas.Office},
        errors=(OfficeNotFound,),
        versioned=True,
    ),
    Operation(
        *("PATCH", _OFFICE, Need.ADMIN, "change", "Change the name, config, sessions, notifications or webhooks."),
        request=schemas.OfficeChange,
        responses={200: schemas.Office},
        errors=(OfficeNotFound,),
        versioned=True,
    ),
    Operation(
        *("DELETE", _OFFICE, Need.ADMIN, "delete", "Delete an office; `cancel=true` cancels its unfinished jobs."),
        request=schemas.OfficeDeletion,
        responses={204: None},
        errors=(OfficeNotFound, Conflict),
    ),
    Operation(
        *("GET", f"{_SCHEDULER}/stats", Need.READ, "stats", "Count the jobs by status."),
        responses={200: schemas.JobQueueStats},
        errors=(OfficeNotFound,),
    ),
    Operation(
        *("GET", f"{_SCHEDULER}/config", Need.READ, "config", "Return the settings; the ETag is for If-Match."),
        responses={200: schemas.JobSchedulerConfig},
        errors=(OfficeNotFound,),
        versioned=True,
        result=schemas.VersionedConfig,
        part="config",
    ),
    Operation(
        *("PATCH", f"{_SCHEDULER}/config", Need.ADMIN, "change_config", "Merge changes into the settings."),
        request=schemas.ConfigChange,
        responses={200: schemas.JobSchedulerConfig},
        errors=(OfficeNotFound,),
        client=ClientCall(body="changes"),
        versioned=True,
        result=schemas.VersionedConfig,
        part="config",
    ),
    Operation(
        *("POST", f"{_SCHEDULER}/process", Need.WRITE, "process", "Run a scheduling cycle now."),
        responses={200: schemas.Processed},
        errors=(OfficeNotFound,),
        idempotent=True,
    ),
    Operation(
        *(
            "POST",
            f"{_SCHEDULER}/simulate",
            Need.READ,
            "simulate",
            "Estimate how long the unfinished jobs take, and which slot to add.",
        ),
        request=schemas.SimulationLimits,
        body_optional=True,
        responses={200: schemas.Simulation},
        errors=(OfficeNotFound, Conflict, Busy),
        idempotent=True,
    ),
]

_JOB_OPERATIONS = [
    Operation(
        *("POST", _JOBS, Need.WRITE, "create_jobs", "Create jobs, all or none."),
        request=schemas.JobBatch,
        responses={201: schemas.JobsCreated},
        errors=(OfficeNotFound, IdAlreadyUsed, Conflict),
        creates=True,
        links={"id": "$request.path.id", "jobId": "$response.body#/jobs/0/id"},
        client=ClientCall(part="jobs"),
    ),
    Operation(
        *("GET", _JOBS, Need.READ, "jobs", "List jobs in creation order, one page at a time."),
        request=schemas.JobQuery,
        responses={200: schemas.JobPage},
        errors=(OfficeNotFound,),
    ),
    # Before the paths with an id in this place.
    Operation(
        *(
            "POST",
            f"{_JOBS}/cancel-all",
            Need.WRITE,
            "cancel_all",
            "Cancel unfinished jobs that match; ask again while `more`.",
        ),
        request=schemas.CancelAll,
        body_optional=True,
        responses={200: schemas.CancelledAll},
        errors=(OfficeNotFound,),
    ),
    Operation(
        *("GET", _JOB, Need.READ, "job", "Return a job with its executions."),
        responses={200: schemas.JobDetail},
        errors=_NO_JOB,
        client=ClientCall(ended=lambda job: job.status in FINISHED),
    ),
    Operation(
        *("GET", f"{_JOB}/log", Need.READ, "log", "Return the output, also of a running job; resume with `after`."),
        request=schemas.LogQuery,
        responses={200: Log},
        errors=_NO_JOB,
    ),
    Operation(
        *("GET", f"{_JOB}/explain", Need.READ, "explain", "Explain why a job is not running."),
        responses={200: Explanation},
        errors=_NO_JOB,
    ),
    Operation(
        *("POST", f"{_JOB}/retry", Need.WRITE, "retry", "Run a failed or cancelled job again."),
        request=schemas.JobRetry,
        body_optional=True,
        responses={200: schemas.Job},
        errors=(*_NO_JOB, WrongState, Conflict),
    ),
    Operation(
        *(
            "POST",
            f"{_JOB}/cancel",
            Need.WRITE,
            "cancel",
            "Cancel a job: 200 once cancelled, 202 while it stops.",
        ),
        responses={200: schemas.Job, 202: schemas.Job},
        errors=(*_NO_JOB, WrongState),
        idempotent=True,
        result=schemas.CancelAnswer,
        part="job",
        accepted="stopping",
    ),
    Operation(
        *("POST", f"{_JOB}/mark-done", Need.WRITE, "mark_done", "Mark a failed or cancelled job as done, and say why."),
        request=schemas.JobMarkDone,
        responses={200: schemas.Job},
        errors=(*_NO_JOB, WrongState),
        idempotent=True,
    ),
    Operation(
        *("PATCH", f"{_JOB}/priority", Need.WRITE, "reprioritise", "Change the priority of a job."),
        request=schemas.Priority,
        responses={200: schemas.Job},
        errors=(*_NO_JOB, WrongState),
        idempotent=True,
        client=ClientCall(method="priority"),
    ),
    Operation(
        *("GET", f"{_OFFICE}/graph", Need.READ, "graph", "Return jobs and their dependencies, one page at a time."),
        request=schemas.GraphQuery,
        responses={200: schemas.Graph},
        errors=(OfficeNotFound,),
    ),
]

_WEBHOOK_OPERATIONS = [
    Operation(
        *("GET", _WEBHOOK, Need.READ, "webhook", "Return a webhook and its state."),
        responses={200: schemas.Webhook},
        errors=_NO_WEBHOOK,
    ),
    Operation(
        *("POST", f"{_WEBHOOK}/enable", Need.ADMIN, "enable_webhook", "Resume deliveries, the oldest one first."),
        responses={200: schemas.Webhook},
        errors=_NO_WEBHOOK,
        idempotent=True,
    ),
    Operation(
        *("POST", f"{_WEBHOOK}/test", Need.ADMIN, "test_webhook", "Send one test message, also to a disabled webhook."),
        responses={202: schemas.Delivery},
        errors=_NO_WEBHOOK,
        creates=True,
        location=f"{_DELIVERIES}/{{result.id}}",
    ),
    Operation(
        *("GET", _DELIVERIES, Need.READ, "deliveries", "List the messages to a webhook, sent and waiting."),
        request=schemas.DeliveryQuery,
        responses={200: schemas.DeliveryPage},
        errors=_NO_WEBHOOK,
    ),
    Operation(
        *("GET", f"{_DELIVERIES}/{{deliveryId}}", Need.READ, "delivery", "Return one message to a webhook."),
        responses={200: schemas.Delivery},
        errors=(*_NO_WEBHOOK, JobNotFound),
    ),
]

OPERATIONS = [*_OFFICE_OPERATIONS, *_JOB_OPERATIONS, *_WEBHOOK_OPERATIONS]

CHANNELS = [
    Channel(
        websocket="/ws/offices/{id}/events",
        sse=f"{_OFFICE}/events",
        need=Need.READ,
        call="following",
        summary="Stream the events of an office, resuming after the event `after`.",
        event=schemas.SchedulerEvent,
        errors=(OfficeNotFound,),
    )
]
