"""Offices for both clients: each method is a route and the values that fill it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from hanbeon.client.calls import call, wait
from hanbeon.client.event_stream import follow
from hanbeon.client.flow import Flow, Response, Stream
from hanbeon.client.methods import Async, Resource, Sync, asks, pages, runs, tells
from hanbeon.client.route import Fill, Route, nothing, shape
from hanbeon.surfaces.offices import schemas
from hanbeon.surfaces.offices.schemas import JobSchedulerConfig, JobSpec
from hanbeon.surfaces.offices.vocabulary import JobStatus
from hanbeon.surfaces.schema import Explanation

_OFFICES = "/api/offices"
_OFFICE = f"{_OFFICES}/{{id}}"
_SCHEDULER = f"{_OFFICE}/scheduler"
_WEBHOOK = f"{_OFFICE}/webhooks/{{webhookId}}"
_JOBS = f"{_OFFICE}/jobs"
_JOB = f"{_JOBS}/{{jobId}}"
_ENDED = frozenset({JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED})

Status = JobStatus | str
JobOrId = schemas.Job | str
WebhookOrId = schemas.Webhook | str
DeliveryOrId = schemas.Delivery | str
_config_of = shape(JobSchedulerConfig)
_job_of = shape(schemas.Job)


class _Made(msgspec.Struct):
    jobs: list[schemas.Job]


def _versioned(answer: Response) -> schemas.VersionedConfig:
    """The version of an office is its ETag."""
    tag = answer.headers.get("etag", "").removeprefix("W/").strip('"')
    return schemas.VersionedConfig(config=_config_of(answer), version=int(tag) if tag.isdecimal() else 0)


def _cancelled(answer: Response) -> schemas.CancelAnswer:
    return schemas.CancelAnswer(job=_job_of(answer), stopping=answer.status == 202)


_GET_JOB = Route("GET", _JOB, shape(schemas.JobDetail))
_GRAPH = Route("GET", f"{_OFFICE}/graph", shape(schemas.Graph))
_EVENTS = Route("GET", f"{_OFFICE}/events", nothing)


class OfficesCalls(Resource):
    """All offices."""

    @asks(Route("POST", _OFFICES, shape(schemas.Office), creates=True))
    def create(
        self,
        name: str,
        *,
        config: Mapping[str, Any] | UnsetType | None = UNSET,
        sessions: Mapping[str, str] | UnsetType | None = UNSET,
        notifications: Sequence[str] | UnsetType | None = UNSET,
        webhooks: Sequence[Mapping[str, Any]] | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Fill:
        """Create an office, once for each key; without one, once for each call."""
        body = {
            "name": name,
            "config": config,
            "sessions": sessions,
            "notifications": notifications,
            "webhooks": webhooks,
        }
        return Fill(body=body, key=idempotency_key)

    @pages(Route("GET", _OFFICES, shape(schemas.OfficePage)))
    def list(self, *, limit: int | None = None) -> Fill:
        """Iterate over all offices; `limit` is the size of a page."""
        return Fill(query={"limit": limit})


class OfficeCalls(Resource):
    """One office."""

    @property
    def id(self) -> str:
        return self._ids["id"]

    @asks(Route("GET", _OFFICE, shape(schemas.Office)))
    def get(self) -> Fill:
        """The office as it is now."""
        return Fill()

    @asks(Route("PATCH", _OFFICE, shape(schemas.Office)))
    def change(
        self,
        *,
        name: str | UnsetType = UNSET,
        sessions: Mapping[str, str | None] | UnsetType | None = UNSET,
        notifications: Sequence[str] | UnsetType | None = UNSET,
        webhooks: Sequence[Mapping[str, Any]] | UnsetType | None = UNSET,
        expected: int | None = None,
    ) -> Fill:
        """Change it. Sessions are merged, the rest replaced, None removes. `expected`: the version last seen."""
        body = {"name": name, "sessions": sessions, "notifications": notifications, "webhooks": webhooks}
        return Fill(body=body, expected=expected)

    @asks(Route("DELETE", _OFFICE, nothing))
    def delete(self, *, cancel: bool = False) -> Fill:
        """Delete it. Unfinished jobs are a conflict, unless `cancel` cancels them first."""
        return Fill(query={"cancel": cancel})

    @asks(Route("GET", f"{_SCHEDULER}/config", _versioned))
    def config(self) -> Fill:
        """The settings by which it runs jobs, and the version of the office."""
        return Fill()

    @asks(Route("PATCH", f"{_SCHEDULER}/config", _versioned))
    def change_config(self, changes: Mapping[str, Any], *, expected: int | None = None) -> Fill:
        """Merge changes into the config. `expected`: the version last seen; nothing is written if it has changed."""
        return Fill(body=changes, expected=expected)

    @asks(Route("GET", f"{_SCHEDULER}/stats", shape(schemas.JobQueueStats)))
    def stats(self) -> Fill:
        """Count the jobs by status."""
        return Fill()

    @asks(Route("POST", f"{_SCHEDULER}/process", shape(schemas.Processed), harmless=True))
    def process(self) -> Fill:
        """Run a scheduling cycle now."""
        return Fill()

    # Webhooks

    @asks(Route("GET", _WEBHOOK, shape(schemas.Webhook)))
    def webhook(self, webhook: WebhookOrId) -> Fill:
        """A webhook and its state."""
        return Fill(_of_hook(webhook))

    @asks(Route("POST", f"{_WEBHOOK}/enable", shape(schemas.Webhook), harmless=True))
    def enable_webhook(self, webhook: WebhookOrId) -> Fill:
        """Resume deliveries to it, the oldest waiting one first."""
        return Fill(_of_hook(webhook))

    @asks(Route("POST", f"{_WEBHOOK}/test", shape(schemas.Delivery), creates=True))
    def test_webhook(self, webhook: WebhookOrId, *, idempotency_key: str | None = None) -> Fill:
        """Send it one test message, even if it is disabled; `delivery` returns the outcome."""
        return Fill(_of_hook(webhook), key=idempotency_key)

    @pages(Route("GET", f"{_WEBHOOK}/deliveries", shape(schemas.DeliveryPage)))
    def deliveries(self, webhook: WebhookOrId, *, limit: int | None = None) -> Fill:
        """Iterate over the messages to it, sent and waiting; `limit` is the size of a page."""
        return Fill(_of_hook(webhook), {"limit": limit})

    @asks(Route("GET", f"{_WEBHOOK}/deliveries/{{deliveryId}}", shape(schemas.Delivery)))
    def delivery(self, webhook: WebhookOrId, delivery: DeliveryOrId) -> Fill:
        """One message to a webhook."""
        return Fill({**_of_hook(webhook), "deliveryId": delivery if isinstance(delivery, str) else delivery.id})

    # Jobs

    @asks(Route("POST", _JOBS, lambda answer: shape(_Made)(answer).jobs, creates=True))
    def create_jobs(self, jobs: Iterable[JobSpec | Mapping[str, Any]], *, idempotency_key: str | None = None) -> Fill:
        """Create jobs, all or none, once for each key; without one, once for each call."""
        return Fill(body={"jobs": [_spec(each) for each in jobs]}, key=idempotency_key)

    @pages(Route("GET", _JOBS, shape(schemas.JobPage)))
    def jobs(
        self,
        *,
        status: Status | Sequence[Status] | None = None,
        role: str | None = None,
        task_id: str | None = None,
        limit: int | None = None,
    ) -> Fill:
        """Iterate over its jobs in creation order; `limit` is the size of a page."""
        return Fill(query={"status": status, "role": role, "task_id": task_id, "limit": limit})

    @asks(_GET_JOB)
    def job(self, job: JobOrId) -> Fill:
        """A job with its executions, the attempts."""
        return Fill(_of(job))

    @asks(Route("GET", f"{_JOB}/log", shape(schemas.Log)))
    def log(
        self, job: JobOrId, *, attempt: int | None = None, after: str | None = None, limit: int | None = None
    ) -> Fill:
        """A page of its output, also while it runs; resume with `after`, at once if there is `more`."""
        return Fill(_of(job), {"attempt": attempt, "after": after, "limit": limit})

    @asks(Route("GET", f"{_JOB}/explain", shape(Explanation)))
    def explain(self, job: JobOrId) -> Fill:
        """Why it is not running."""
        return Fill(_of(job))

    @asks(Route("POST", f"{_JOB}/retry", _job_of))
    def retry(self, job: JobOrId) -> Fill:
        """Run a failed or cancelled job again."""
        return Fill(_of(job))

    @asks(Route("POST", f"{_JOB}/cancel", _cancelled, harmless=True))
    def cancel(self, job: JobOrId) -> Fill:
        """Cancel it; `stopping` means that its work is still being stopped."""
        return Fill(_of(job))

    @asks(Route("POST", f"{_JOBS}/cancel-all", shape(schemas.CancelledAll)))
    def cancel_all(
        self,
        *,
        task_id: str | UnsetType = UNSET,
        statuses: Sequence[Status] | UnsetType = UNSET,
        role: str | UnsetType = UNSET,
    ) -> Fill:
        """Cancel every unfinished job that matches; without a filter, all."""
        return Fill(body={"task_id": task_id, "statuses": statuses, "role": role})

    @asks(Route("PATCH", f"{_JOB}/priority", _job_of, harmless=True))
    def priority(self, job: JobOrId, *, priority: int | UnsetType = UNSET, urgent: bool | UnsetType = UNSET) -> Fill:
        """Change its priority: lower runs before higher, urgent before all others."""
        return Fill(_of(job), body={"priority": priority, "urgent": urgent})

    @runs(_GRAPH)
    def graph(self, *, task_id: str | None = None, limit: int | None = None) -> Flow[schemas.Graph]:
        """Return all jobs with their dependencies; `limit` is the size of a page."""
        nodes: list[schemas.Node] = []
        edges: list[schemas.Edge] = []
        query = {"task_id": task_id, "limit": limit, "cursor": None}
        while True:
            page = yield from call(self._retry, _GRAPH, self._ids, Fill(query=query))
            nodes += page.nodes
            edges += page.edges
            if page.next_cursor is None:
                return schemas.Graph(nodes=nodes, edges=edges, next_cursor=None)
            query = {**query, "cursor": page.next_cursor}

    @tells(_EVENTS)
    def events(self, *, after: int | str = 0) -> Stream[schemas.SchedulerEvent]:
        """Iterate over the events after `after` without end; reconnects when the connection is lost.

        `after` may be `<incarnation>:<id>`. Raises EventsMissed if events after it are gone, and Invalid with the code
        `other_incarnation` if the database was restored from a backup since.
        """
        return follow(self._retry, _EVENTS, self._ids, after)

    @runs(_GET_JOB)
    def wait(self, job: JobOrId, *, timeout: float | None = None) -> Flow[schemas.JobDetail]:
        """Wait until the job is done, failed or cancelled; raises if that takes longer than `timeout` seconds."""
        fill = Fill(_of(job))
        return wait(self._retry, _GET_JOB, self._ids, fill, lambda found: found.status in _ENDED, timeout)


class Offices(Sync, OfficesCalls):
    """All offices of a server."""


class Office(Sync, OfficeCalls):
    """One office of a server."""


class AsyncOffices(Async, OfficesCalls):
    """All offices of a server; every call is awaited."""


class AsyncOffice(Async, OfficeCalls):
    """One office of a server; every call is awaited."""


def _of(job: JobOrId) -> dict[str, str]:
    return {"jobId": job if isinstance(job, str) else job.id}


def _of_hook(webhook: WebhookOrId) -> dict[str, str]:
    return {"webhookId": webhook if isinstance(webhook, str) else webhook.id}


def _spec(job: JobSpec | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields that are set; an older server rejects fields that it does not know."""
    given = msgspec.structs.asdict(job) if isinstance(job, JobSpec) else job
    return {name: value for name, value in given.items() if value is not None}
