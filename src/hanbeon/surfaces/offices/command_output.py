"""Offices, their jobs and events as text."""

from __future__ import annotations

from typing import Any

import msgspec
from rich.text import Text

from hanbeon.cli.output import STATE_STYLES
from hanbeon.domain.durations import brief
from hanbeon.domain.lifecycle import STATES
from hanbeon.quotation import plain
from hanbeon.surfaces.offices import schemas
from hanbeon.surfaces.offices.schemas import JobSchedulerConfig
from hanbeon.surfaces.offices.vocabulary import PHASE, EventType, JobStatus

_WIDEST = max(len(each) for each in EventType)


def pairs_text(pairs: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in pairs.items())


def office_facts(office: schemas.Office, stats: schemas.JobQueueStats) -> list[tuple[str, str | None]]:
    return [
        ("name", office.name),
        ("id", office.id),
        ("version", str(office.version)),
        ("created_at", office.created_at),
        ("changed_at", office.changed_at),
        ("sessions", pairs_text(office.sessions)),
        ("notifications", f"{len(office.notifications)}" if office.notifications else None),
        ("webhooks", ", ".join(f"{hook.url} ({hook.state})" for hook in office.webhooks)),
        *config_facts(office.config),
        *stats_facts(stats),
    ]


def config_facts(config: JobSchedulerConfig) -> list[tuple[str, str]]:
    values = msgspec.structs.asdict(config)
    return [(name, pairs_text(value) if isinstance(value, dict) else str(value)) for name, value in values.items()]


def stats_facts(stats: schemas.JobQueueStats) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in msgspec.structs.asdict(stats).items() if name != "office_id"]


def simulation_facts(found: schemas.Simulation) -> list[tuple[str, str | None]]:
    added = None
    if (slot := found.add_slot) is not None:
        added = f"{pairs_text(slot.limits)} takes {brief(slot.makespan_ms / 1_000)}"
    return [
        ("jobs", str(found.jobs)),
        ("takes", brief(found.makespan_ms / 1_000)),
        ("ends_at", found.ends_at),
        ("unlimited", brief(found.unlimited_ms / 1_000)),
        ("add_slot", added),
        ("assumed", f"{found.assumed} jobs, of whose task no run was measured" if found.assumed else None),
        ("never", f"{found.never} jobs, which wait for a failed one or have no handler" if found.never else None),
    ]


def path_row(job: schemas.SimulatedJob) -> list[str]:
    times = [brief(job.start_ms / 1_000), brief(job.end_ms / 1_000)]
    return [*times, job.limit or job.waited_for or "", job.role or "", job.title or job.key or job.id]


def job_row(job: schemas.Job) -> list[Any]:
    note = f"{job.failure_type}: {job.error_message}" if job.failure_type else job.title or job.key or ""
    retries = str(job.retry_count)
    return [job.id, _styled(job.status), job.role or "", job.task_id or "", retries, job.created_at, note]


def event_line(event: schemas.SchedulerEvent) -> Text:
    details = plain(msgspec.json.encode(event.details).decode()) if event.details else ""
    return Text.assemble(
        (f"{event.id:>7} {event.timestamp}", "dim"),
        f"  {event.type:<{_WIDEST}}  {event.job_id}  ",
        (details, "dim"),
        no_wrap=True,
    )


def _styled(status: JobStatus) -> Text:
    return Text(status.value, STATE_STYLES[STATES[PHASE[status]]])
