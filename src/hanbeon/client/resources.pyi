"""Generated from the operations of the surfaces by `make docs`."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar

from hanbeon.client.calls import RetryConfig
from hanbeon.domain.access import Scope
from hanbeon.domain.executions import ExecutionType
from hanbeon.domain.lifecycle import State
from hanbeon.domain.timing.fire_times import ClockFold, ClockGap
from hanbeon.surfaces.chains.schemas import Chain as ChainsChain
from hanbeon.surfaces.chains.schemas import ChainEvent, ChainJob, NewChainJob, Run
from hanbeon.surfaces.chains.vocabulary import ChainState, OnBackwardFailure, OnUnknown
from hanbeon.surfaces.engine.installation_schemas import CreatedToken, EngineSettings, Token, Tokens
from hanbeon.surfaces.engine.overview import EngineOverview
from hanbeon.surfaces.engine.schemas import (
    Action,
    BulkAction,
    BulkDone,
    DeadLetter,
    EngineCancelAnswer,
    EngineChange,
    EngineEvent,
    EngineInstance,
    EngineInstances,
    EngineJob,
    EngineJobDetail,
    EngineQueue,
    EngineStatistics,
    FailureGroups,
    JobFilter,
)
from hanbeon.surfaces.exports.jobs import JobType
from hanbeon.surfaces.exports.replays.schemas import Replay as ExportsReplay
from hanbeon.surfaces.exports.replays.schemas import ReplayPage
from hanbeon.surfaces.exports.schemas import CancelAnswer as ExportsCancelAnswer
from hanbeon.surfaces.exports.schemas import Export, ExportCreated, ExportEvent, ExportPage
from hanbeon.surfaces.exports.vocabulary import ExportStatus
from hanbeon.surfaces.offices.schemas import (
    CancelAnswer,
    CancelledAll,
    ConfigChange,
    Graph,
    JobDetail,
    JobQueueStats,
    JobSpec,
    NewConfig,
    Processed,
    SchedulerEvent,
    Simulation,
    VersionedConfig,
    WebhookBody,
    WebhookChange,
)
from hanbeon.surfaces.offices.schemas import Job as OfficesJob
from hanbeon.surfaces.offices.schemas import Office as OfficesOffice
from hanbeon.surfaces.offices.webhook_schemas import Delivery, Webhook
from hanbeon.surfaces.schedules.misfire import Misfire, Overlap
from hanbeon.surfaces.schedules.schemas import CancelAnswer as SchedulesCancelAnswer
from hanbeon.surfaces.schedules.schemas import Execution as SchedulesExecution
from hanbeon.surfaces.schedules.schemas import Fire, Moment, Preview
from hanbeon.surfaces.schedules.schemas import Schedule as SchedulesSchedule
from hanbeon.surfaces.schedules.schemas import Task as SchedulesTask
from hanbeon.surfaces.schedules.vocabulary import ExecutionStatus, FireOutcome
from hanbeon.surfaces.schema import Explanation, Log
from hanbeon.surfaces.surface import Surface
from hanbeon.surfaces.workflows.schemas import (
    DryRunResult,
    Executed,
    Monitor,
    NewScheduleConfig,
    NewStep,
    Registered,
    WorkflowRun,
)
from hanbeon.surfaces.workflows.schemas import Execution as WorkflowsExecution
from hanbeon.surfaces.workflows.schemas import Workflow as WorkflowsWorkflow
from hanbeon.surfaces.workflows.vocabulary import WorkflowStatus

class Resource:
    def __init__(self, transport: Any, retry: RetryConfig, ids: Any) -> None: ...

class Engine(Resource):
    def jobs(
        self,
        *,
        state: State | Sequence[State | str] | str | None = None,
        queue: str | None = None,
        task: str | None = None,
        role: str | None = None,
        key: str | None = None,
        id: str | None = None,
        text: str | None = None,
        failure_type: str | None = None,
        created_after: str | None = None,
        created_before: str | None = None,
        own: bool | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Iterator[EngineJob]:
        """Search all jobs, newest first, one page at a time."""
    def enqueue(
        self,
        *,
        task: str | None = ...,
        args: Mapping[str, Any] | None = ...,
        copy_of: str | None = ...,
        queue: str | None = ...,
        role: str | None = ...,
        priority: int | None = ...,
        urgent: bool | None = ...,
        delay: float | None = ...,
        timeout_ms: int | None = ...,
        expires: float | str | None = ...,
        max_retries: int | None = ...,
        idempotency_key: str | None = None,
    ) -> EngineJob:
        """Create a job of a registered task, or a copy of a job."""
    def bulk(
        self, action: BulkAction | str, filter: JobFilter | Mapping[str, Any], *, dry_run: bool | None = ...
    ) -> BulkDone:
        """Cancel or retry the jobs that match, a batch at a time."""
    def job(self, job: str) -> EngineJobDetail:
        """Return a job with its timeline, attempts and dependencies."""
    def wait(self, job: str, *, timeout: float | None = None) -> EngineJobDetail:
        """Wait until it has ended; raises if that takes longer than `timeout` seconds."""
    def log(self, job: str, *, attempt: int | None = None, after: str | None = None, limit: int | None = None) -> Log:
        """Return the output, also of a running job; resume with `after`."""
    def explain(self, job: str) -> Explanation:
        """Explain why a job is not running."""
    def cancel(self, job: str) -> EngineCancelAnswer:
        """Cancel a job: 200 once cancelled, 202 while it stops."""
    def retry(self, job: str, *, comment: str | None = ..., args: Mapping[str, Any] | None = ...) -> EngineJob:
        """Run a failed or cancelled job again."""
    def mark_done(self, job: str, comment: str, *, result: Any = ...) -> EngineJob:
        """Mark a failed or cancelled job as done, and say why."""
    def priority(self, job: str, *, priority: int = ..., urgent: bool = ...) -> EngineJob:
        """Change the priority of a job."""
    def overview(self) -> EngineOverview:
        """Return the numbers of the whole installation."""
    def queues(
        self, *, name: str | None = None, window: int | None = None, cursor: str | None = None, limit: int | None = None
    ) -> Iterator[EngineQueue]:
        """List the queues with their limits and statistics, one page at a time."""
    def change_queue(
        self,
        name: str,
        *,
        max_concurrent: int = ...,
        max_per_key: int = ...,
        roles: Mapping[str, int] = ...,
        keys: Mapping[str, int] = ...,
        paused: bool = ...,
    ) -> EngineQueue:
        """Change the limits of a queue, pause or resume it."""
    def instances(self) -> EngineInstances:
        """List the workers and what each of them runs."""
    def drain(self, number: str) -> EngineInstance:
        """Tell a worker to claim nothing more."""
    def resume(self, number: str) -> EngineInstance:
        """Let a drained worker claim again."""
    def statistics(
        self, *, start: str | None = None, to: str | None = None, step: int | None = None, queue: str | None = None
    ) -> EngineStatistics:
        """Return throughput, waits and runs over time."""
    def failures(self, *, seconds: int | None = None, limit: int | None = None) -> FailureGroups:
        """Group the latest failures by task and error."""
    def actions(
        self, *, user: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> Iterator[Action]:
        """List who did what, newest first."""
    def tokens(self) -> Tokens:
        """List the tokens, without their secrets."""
    def create_token(self, user: str, scope: Scope | str, *, idempotency_key: str | None = None) -> CreatedToken:
        """Create a token; its text is shown this once."""
    def revoke_token(self, number: str) -> Token:
        """Revoke a token for good."""
    def deadletters(self, *, cursor: str | None = None, limit: int | None = None) -> Iterator[DeadLetter]:
        """List messages of stream workers that could not be used."""
    def deadletter(self, letter: str) -> DeadLetter:
        """Return a dead letter."""
    def republish_deadletter(self, letter: str) -> DeadLetter:
        """Put a message back into its stream."""
    def drop_deadletter(self, letter: str) -> DeadLetter:
        """Delete a dead letter for good."""
    def settings(self) -> EngineSettings:
        """List the settings in force, secrets masked."""
    def events(self, *, after: int | str = 0) -> Iterator[EngineEvent]:
        """Iterate over the events after `after` without end; reconnects when the connection is lost."""
    def changes(self, *, after: int | str = 0) -> Iterator[EngineChange]:
        """Iterate over the events after `after` without end; reconnects when the connection is lost."""

class AsyncEngine(Resource):
    def jobs(
        self,
        *,
        state: State | Sequence[State | str] | str | None = None,
        queue: str | None = None,
        task: str | None = None,
        role: str | None = None,
        key: str | None = None,
        id: str | None = None,
        text: str | None = None,
        failure_type: str | None = None,
        created_after: str | None = None,
        created_before: str | None = None,
        own: bool | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[EngineJob]:
        """Search all jobs, newest first, one page at a time."""
    async def enqueue(
        self,
        *,
        task: str | None = ...,
        args: Mapping[str, Any] | None = ...,
        copy_of: str | None = ...,
        queue: str | None = ...,
        role: str | None = ...,
        priority: int | None = ...,
        urgent: bool | None = ...,
        delay: float | None = ...,
        timeout_ms: int | None = ...,
        expires: float | str | None = ...,
        max_retries: int | None = ...,
        idempotency_key: str | None = None,
    ) -> EngineJob:
        """Create a job of a registered task, or a copy of a job."""
    async def bulk(
        self, action: BulkAction | str, filter: JobFilter | Mapping[str, Any], *, dry_run: bool | None = ...
    ) -> BulkDone:
        """Cancel or retry the jobs that match, a batch at a time."""
    async def job(self, job: str) -> EngineJobDetail:
        """Return a job with its timeline, attempts and dependencies."""
    async def wait(self, job: str, *, timeout: float | None = None) -> EngineJobDetail:
        """Wait until it has ended; raises if that takes longer than `timeout` seconds."""
    async def log(
        self, job: str, *, attempt: int | None = None, after: str | None = None, limit: int | None = None
    ) -> Log:
        """Return the output, also of a running job; resume with `after`."""
    async def explain(self, job: str) -> Explanation:
        """Explain why a job is not running."""
    async def cancel(self, job: str) -> EngineCancelAnswer:
        """Cancel a job: 200 once cancelled, 202 while it stops."""
    async def retry(self, job: str, *, comment: str | None = ..., args: Mapping[str, Any] | None = ...) -> EngineJob:
        """Run a failed or cancelled job again."""
    async def mark_done(self, job: str, comment: str, *, result: Any = ...) -> EngineJob:
        """Mark a failed or cancelled job as done, and say why."""
    async def priority(self, job: str, *, priority: int = ..., urgent: bool = ...) -> EngineJob:
        """Change the priority of a job."""
    async def overview(self) -> EngineOverview:
        """Return the numbers of the whole installation."""
    def queues(
        self, *, name: str | None = None, window: int | None = None, cursor: str | None = None, limit: int | None = None
    ) -> AsyncIterator[EngineQueue]:
        """List the queues with their limits and statistics, one page at a time."""
    async def change_queue(
        self,
        name: str,
        *,
        max_concurrent: int = ...,
        max_per_key: int = ...,
        roles: Mapping[str, int] = ...,
        keys: Mapping[str, int] = ...,
        paused: bool = ...,
    ) -> EngineQueue:
        """Change the limits of a queue, pause or resume it."""
    async def instances(self) -> EngineInstances:
        """List the workers and what each of them runs."""
    async def drain(self, number: str) -> EngineInstance:
        """Tell a worker to claim nothing more."""
    async def resume(self, number: str) -> EngineInstance:
        """Let a drained worker claim again."""
    async def statistics(
        self, *, start: str | None = None, to: str | None = None, step: int | None = None, queue: str | None = None
    ) -> EngineStatistics:
        """Return throughput, waits and runs over time."""
    async def failures(self, *, seconds: int | None = None, limit: int | None = None) -> FailureGroups:
        """Group the latest failures by task and error."""
    def actions(
        self, *, user: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> AsyncIterator[Action]:
        """List who did what, newest first."""
    async def tokens(self) -> Tokens:
        """List the tokens, without their secrets."""
    async def create_token(self, user: str, scope: Scope | str, *, idempotency_key: str | None = None) -> CreatedToken:
        """Create a token; its text is shown this once."""
    async def revoke_token(self, number: str) -> Token:
        """Revoke a token for good."""
    def deadletters(self, *, cursor: str | None = None, limit: int | None = None) -> AsyncIterator[DeadLetter]:
        """List messages of stream workers that could not be used."""
    async def deadletter(self, letter: str) -> DeadLetter:
        """Return a dead letter."""
    async def republish_deadletter(self, letter: str) -> DeadLetter:
        """Put a message back into its stream."""
    async def drop_deadletter(self, letter: str) -> DeadLetter:
        """Delete a dead letter for good."""
    async def settings(self) -> EngineSettings:
        """List the settings in force, secrets masked."""
    def events(self, *, after: int | str = 0) -> AsyncIterator[EngineEvent]:
        """Iterate over the events after `after` without end; reconnects when the connection is lost."""
    def changes(self, *, after: int | str = 0) -> AsyncIterator[EngineChange]:
        """Iterate over the events after `after` without end; reconnects when the connection is lost."""

class Offices(Resource):
    def create(
        self,
        name: str,
        *,
        config: NewConfig | Mapping[str, Any] | None = ...,
        sessions: Mapping[str, str | None] | None = ...,
        notifications: Sequence[str] | None = ...,
        webhooks: Sequence[WebhookBody | Mapping[str, Any]] | None = ...,
        idempotency_key: str | None = None,
    ) -> OfficesOffice:
        """Create an office."""

    def list(self, *, cursor: str | None = None, limit: int | None = None) -> Iterator[OfficesOffice]:
        """List offices, one page at a time."""

class AsyncOffices(Resource):
    async def create(
        self,
        name: str,
        *,
        config: NewConfig | Mapping[str, Any] | None = ...,
        sessions: Mapping[str, str | None] | None = ...,
        notifications: Sequence[str] | None = ...,
        webhooks: Sequence[WebhookBody | Mapping[str, Any]] | None = ...,
        idempotency_key: str | None = None,
    ) -> OfficesOffice:
        """Create an office."""

    def list(self, *, cursor: str | None = None, limit: int | None = None) -> AsyncIterator[OfficesOffice]:
        """List offices, one page at a time."""

class Office(Resource):
    @property
    def id(self) -> str: ...
    def get(self) -> OfficesOffice:
        """Return an office."""

    def change(
        self,
        *,
        name: str = ...,
        config: ConfigChange | Mapping[str, Any] = ...,
        sessions: Mapping[str, str | None] | None = ...,
        notifications: Sequence[str] | None = ...,
        webhooks: Sequence[WebhookChange | Mapping[str, Any]] | None = ...,
        expected: int | None = None,
    ) -> OfficesOffice:
        """Change the name, config, sessions, notifications or webhooks."""

    def delete(self, *, cancel: bool | None = None) -> None:
        """Delete an office; `cancel=true` cancels its unfinished jobs."""

    def stats(self) -> JobQueueStats:
        """Count the jobs by status."""

    def config(self) -> VersionedConfig:
        """Return the settings; the ETag is for If-Match."""

    def change_config(self, changes: Mapping[str, Any], *, expected: int | None = None) -> VersionedConfig:
        """Merge changes into the settings."""

    def process(self) -> Processed:
        """Run a scheduling cycle now."""

    def simulate(
        self,
        *,
        maxConcurrentJobs: int | None = ...,
        maxConcurrentByRole: Mapping[str, int | None] | None = ...,
        assumed_ms: int | None = ...,
    ) -> Simulation:
        """Estimate how long the unfinished jobs take, and which slot to add."""

    def create_jobs(
        self, jobs: Sequence[JobSpec | Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> list[OfficesJob]:
        """Create jobs, all or none."""

    def jobs(
        self,
        *,
        status: str | Sequence[str] | None = None,
        role: str | None = None,
        task_id: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Iterator[OfficesJob]:
        """List jobs in creation order, one page at a time."""

    def cancel_all(
        self, *, task_id: str | None = ..., statuses: Sequence[str] | None = ..., role: str | None = ...
    ) -> CancelledAll:
        """Cancel unfinished jobs that match; ask again while `more`."""

    def job(self, job: OfficesJob | str) -> JobDetail:
        """Return a job with its executions."""

    def wait(self, job: OfficesJob | str, *, timeout: float | None = None) -> JobDetail:
        """Wait until it has ended; raises if that takes longer than `timeout` seconds."""

    def log(
        self, job: OfficesJob | str, *, attempt: int | None = None, after: str | None = None, limit: int | None = None
    ) -> Log:
        """Return the output, also of a running job; resume with `after`."""

    def explain(self, job: OfficesJob | str) -> Explanation:
        """Explain why a job is not running."""

    def retry(
        self, job: OfficesJob | str, *, comment: str | None = ..., args: Mapping[str, Any] | None = ...
    ) -> OfficesJob:
        """Run a failed or cancelled job again."""

    def cancel(self, job: OfficesJob | str) -> CancelAnswer:
        """Cancel a job: 200 once cancelled, 202 while it stops."""

    def mark_done(self, job: OfficesJob | str, comment: str, *, result: Any = ...) -> OfficesJob:
        """Mark a failed or cancelled job as done, and say why."""

    def priority(self, job: OfficesJob | str, *, priority: int | None = ..., urgent: bool | None = ...) -> OfficesJob:
        """Change the priority of a job."""

    def graph(self, *, task_id: str | None = None, limit: int | None = None) -> Graph:
        """Return jobs and their dependencies, one page at a time."""

    def webhook(self, webhook: Webhook | str) -> Webhook:
        """Return a webhook and its state."""

    def enable_webhook(self, webhook: Webhook | str) -> Webhook:
        """Resume deliveries, the oldest one first."""

    def test_webhook(self, webhook: Webhook | str, *, idempotency_key: str | None = None) -> Delivery:
        """Send one test message, also to a disabled webhook."""

    def deliveries(
        self, webhook: Webhook | str, *, cursor: str | None = None, limit: int | None = None
    ) -> Iterator[Delivery]:
        """List the messages to a webhook, sent and waiting."""

    def delivery(self, webhook: Webhook | str, delivery: Delivery | str) -> Delivery:
        """Return one message to a webhook."""

    def events(self, *, after: int | str = 0) -> Iterator[SchedulerEvent]:
        """Iterate over the events after `after` without end; reconnects when the connection is lost."""

class AsyncOffice(Resource):
    @property
    def id(self) -> str: ...
    async def get(self) -> OfficesOffice:
        """Return an office."""

    async def change(
        self,
        *,
        name: str = ...,
        config: ConfigChange | Mapping[str, Any] = ...,
        sessions: Mapping[str, str | None] | None = ...,
        notifications: Sequence[str] | None = ...,
        webhooks: Sequence[WebhookChange | Mapping[str, Any]] | None = ...,
        expected: int | None = None,
    ) -> OfficesOffice:
        """Change the name, config, sessions, notifications or webhooks."""

    async def delete(self, *, cancel: bool | None = None) -> None:
        """Delete an office; `cancel=true` cancels its unfinished jobs."""

    async def stats(self) -> JobQueueStats:
        """Count the jobs by status."""

    async def config(self) -> VersionedConfig:
        """Return the settings; the ETag is for If-Match."""

    async def change_config(self, changes: Mapping[str, Any], *, expected: int | None = None) -> VersionedConfig:
        """Merge changes into the settings."""

    async def process(self) -> Processed:
        """Run a scheduling cycle now."""

    async def simulate(
        self,
        *,
        maxConcurrentJobs: int | None = ...,
        maxConcurrentByRole: Mapping[str, int | None] | None = ...,
        assumed_ms: int | None = ...,
    ) -> Simulation:
        """Estimate how long the unfinished jobs take, and which slot to add."""

    async def create_jobs(
        self, jobs: Sequence[JobSpec | Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> list[OfficesJob]:
        """Create jobs, all or none."""

    def jobs(
        self,
        *,
        status: str | Sequence[str] | None = None,
        role: str | None = None,
        task_id: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[OfficesJob]:
        """List jobs in creation order, one page at a time."""

    async def cancel_all(
        self, *, task_id: str | None = ..., statuses: Sequence[str] | None = ..., role: str | None = ...
    ) -> CancelledAll:
        """Cancel unfinished jobs that match; ask again while `more`."""

    async def job(self, job: OfficesJob | str) -> JobDetail:
        """Return a job with its executions."""

    async def wait(self, job: OfficesJob | str, *, timeout: float | None = None) -> JobDetail:
        """Wait until it has ended; raises if that takes longer than `timeout` seconds."""

    async def log(
        self, job: OfficesJob | str, *, attempt: int | None = None, after: str | None = None, limit: int | None = None
    ) -> Log:
        """Return the output, also of a running job; resume with `after`."""

    async def explain(self, job: OfficesJob | str) -> Explanation:
        """Explain why a job is not running."""

    async def retry(
        self, job: OfficesJob | str, *, comment: str | None = ..., args: Mapping[str, Any] | None = ...
    ) -> OfficesJob:
        """Run a failed or cancelled job again."""

    async def cancel(self, job: OfficesJob | str) -> CancelAnswer:
        """Cancel a job: 200 once cancelled, 202 while it stops."""

    async def mark_done(self, job: OfficesJob | str, comment: str, *, result: Any = ...) -> OfficesJob:
        """Mark a failed or cancelled job as done, and say why."""

    async def priority(
        self, job: OfficesJob | str, *, priority: int | None = ..., urgent: bool | None = ...
    ) -> OfficesJob:
        """Change the priority of a job."""

    async def graph(self, *, task_id: str | None = None, limit: int | None = None) -> Graph:
        """Return jobs and their dependencies, one page at a time."""

    async def webhook(self, webhook: Webhook | str) -> Webhook:
        """Return a webhook and its state."""

    async def enable_webhook(self, webhook: Webhook | str) -> Webhook:
        """Resume deliveries, the oldest one first."""

    async def test_webhook(self, webhook: Webhook | str, *, idempotency_key: str | None = None) -> Delivery:
        """Send one test message, also to a disabled webhook."""

    def deliveries(
        self, webhook: Webhook | str, *, cursor: str | None = None, limit: int | None = None
    ) -> AsyncIterator[Delivery]:
        """List the messages to a webhook, sent and waiting."""

    async def delivery(self, webhook: Webhook | str, delivery: Delivery | str) -> Delivery:
        """Return one message to a webhook."""

    def events(self, *, after: int | str = 0) -> AsyncIterator[SchedulerEvent]:
        """Iterate over the events after `after` without end; reconnects when the connection is lost."""

class Tasks(Resource):
    def list(self, *, cursor: str | None = None, limit: int | None = None) -> Iterator[SchedulesTask]:
        """List registered tasks, a page at a time."""

class AsyncTasks(Resource):
    def list(self, *, cursor: str | None = None, limit: int | None = None) -> AsyncIterator[SchedulesTask]:
        """List registered tasks, a page at a time."""

class Task(Resource):
    @property
    def id(self) -> str: ...
    def get(self) -> SchedulesTask:
        """Show a task."""

    def run(self, *, args: Mapping[str, Any] | None = ..., idempotency_key: str | None = None) -> SchedulesExecution:
        """Run a task now, unless it has an unfinished execution."""

class AsyncTask(Resource):
    @property
    def id(self) -> str: ...
    async def get(self) -> SchedulesTask:
        """Show a task."""

    async def run(
        self, *, args: Mapping[str, Any] | None = ..., idempotency_key: str | None = None
    ) -> SchedulesExecution:
        """Run a task now, unless it has an unfinished execution."""

class Executions(Resource):
    def list(
        self,
        *,
        task_id: str | None = None,
        status: ExecutionStatus | Sequence[ExecutionStatus | str] | None = None,
        type: ExecutionType | str | None = None,
        schedule_id: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Iterator[SchedulesExecution]:
        """List executions, newest first."""

class AsyncExecutions(Resource):
    def list(
        self,
        *,
        task_id: str | None = None,
        status: ExecutionStatus | Sequence[ExecutionStatus | str] | None = None,
        type: ExecutionType | str | None = None,
        schedule_id: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[SchedulesExecution]:
        """List executions, newest first."""

class Execution(Resource):
    @property
    def id(self) -> str: ...
    def get(self) -> SchedulesExecution:
        """Show an execution."""

    def wait(self, *, timeout: float | None = None) -> SchedulesExecution:
        """Wait until it has ended; raises if that takes longer than `timeout` seconds."""

    def explain(self) -> Explanation:
        """Explain why an execution is not running."""

    def cancel(self) -> SchedulesCancelAnswer:
        """Cancel an execution: 200 once cancelled, 202 while it stops."""

class AsyncExecution(Resource):
    @property
    def id(self) -> str: ...
    async def get(self) -> SchedulesExecution:
        """Show an execution."""

    async def wait(self, *, timeout: float | None = None) -> SchedulesExecution:
        """Wait until it has ended; raises if that takes longer than `timeout` seconds."""

    async def explain(self) -> Explanation:
        """Explain why an execution is not running."""

    async def cancel(self) -> SchedulesCancelAnswer:
        """Cancel an execution: 200 once cancelled, 202 while it stops."""

class Schedules(Resource):
    def create(
        self,
        task_id: str,
        *,
        cron: str | None = ...,
        every: float | str | None = ...,
        run_at: Moment | None = ...,
        timezone: str | None = ...,
        jitter: float | str | None = ...,
        starts_at: Moment | None = ...,
        ends_at: Moment | None = ...,
        dst_gap: ClockGap | str | None = ...,
        dst_fold: ClockFold | str | None = ...,
        args: Mapping[str, Any] | None = ...,
        overlap: Overlap | str | None = ...,
        misfire: Misfire | str | None = ...,
        misfire_limit: int | None = ...,
        paused: bool | None = ...,
        name: str | None = ...,
        idempotency_key: str | None = None,
    ) -> SchedulesSchedule:
        """Create a schedule of a known task."""

    def list(
        self,
        *,
        task_id: str | None = None,
        paused: bool | None = None,
        name: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Iterator[SchedulesSchedule]:
        """List schedules, a page at a time."""

    def preview(
        self,
        *,
        cron: str | None = ...,
        every: float | str | None = ...,
        run_at: Moment | None = ...,
        timezone: str | None = ...,
        jitter: float | str | None = ...,
        starts_at: Moment | None = ...,
        ends_at: Moment | None = ...,
        dst_gap: ClockGap | str | None = ...,
        dst_fold: ClockFold | str | None = ...,
        start: Moment | None = ...,
        n: int | None = ...,
    ) -> Preview:
        """Preview the fires of a schedule before creating it."""

class AsyncSchedules(Resource):
    async def create(
        self,
        task_id: str,
        *,
        cron: str | None = ...,
        every: float | str | None = ...,
        run_at: Moment | None = ...,
        timezone: str | None = ...,
        jitter: float | str | None = ...,
        starts_at: Moment | None = ...,
        ends_at: Moment | None = ...,
        dst_gap: ClockGap | str | None = ...,
        dst_fold: ClockFold | str | None = ...,
        args: Mapping[str, Any] | None = ...,
        overlap: Overlap | str | None = ...,
        misfire: Misfire | str | None = ...,
        misfire_limit: int | None = ...,
        paused: bool | None = ...,
        name: str | None = ...,
        idempotency_key: str | None = None,
    ) -> SchedulesSchedule:
        """Create a schedule of a known task."""

    def list(
        self,
        *,
        task_id: str | None = None,
        paused: bool | None = None,
        name: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[SchedulesSchedule]:
        """List schedules, a page at a time."""

    async def preview(
        self,
        *,
        cron: str | None = ...,
        every: float | str | None = ...,
        run_at: Moment | None = ...,
        timezone: str | None = ...,
        jitter: float | str | None = ...,
        starts_at: Moment | None = ...,
        ends_at: Moment | None = ...,
        dst_gap: ClockGap | str | None = ...,
        dst_fold: ClockFold | str | None = ...,
        start: Moment | None = ...,
        n: int | None = ...,
    ) -> Preview:
        """Preview the fires of a schedule before creating it."""

class Schedule(Resource):
    @property
    def id(self) -> str: ...
    def get(self) -> SchedulesSchedule:
        """Show a schedule."""

    def change(
        self,
        *,
        cron: str | None = ...,
        every: float | str | None = ...,
        run_at: Moment | None = ...,
        timezone: str | None = ...,
        jitter: float | str | None = ...,
        starts_at: Moment | None = ...,
        ends_at: Moment | None = ...,
        dst_gap: ClockGap | str | None = ...,
        dst_fold: ClockFold | str | None = ...,
        args: Mapping[str, Any] | None = ...,
        overlap: Overlap | str | None = ...,
        misfire: Misfire | str | None = ...,
        misfire_limit: int | None = ...,
        paused: bool | None = ...,
        name: str | None = ...,
        task_id: str = ...,
        expected: int | None = None,
    ) -> SchedulesSchedule:
        """Change fields of a schedule; in force at once."""

    def delete(self, *, expected: int | None = None) -> None:
        """Delete a schedule; its executions stay until they are pruned."""

    def pause(self) -> SchedulesSchedule:
        """Stop firing until the schedule is resumed."""

    def resume(self) -> SchedulesSchedule:
        """Continue with the next fire after now."""

    def preview(self, *, n: int | None = None) -> Preview:
        """Preview the next fires, with notes on clock changes."""

    def fires(
        self, *, outcome: FireOutcome | str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> Iterator[Fire]:
        """List the outcomes of past fires, newest first."""

class AsyncSchedule(Resource):
    @property
    def id(self) -> str: ...
    async def get(self) -> SchedulesSchedule:
        """Show a schedule."""

    async def change(
        self,
        *,
        cron: str | None = ...,
        every: float | str | None = ...,
        run_at: Moment | None = ...,
        timezone: str | None = ...,
        jitter: float | str | None = ...,
        starts_at: Moment | None = ...,
        ends_at: Moment | None = ...,
        dst_gap: ClockGap | str | None = ...,
        dst_fold: ClockFold | str | None = ...,
        args: Mapping[str, Any] | None = ...,
        overlap: Overlap | str | None = ...,
        misfire: Misfire | str | None = ...,
        misfire_limit: int | None = ...,
        paused: bool | None = ...,
        name: str | None = ...,
        task_id: str = ...,
        expected: int | None = None,
    ) -> SchedulesSchedule:
        """Change fields of a schedule; in force at once."""

    async def delete(self, *, expected: int | None = None) -> None:
        """Delete a schedule; its executions stay until they are pruned."""

    async def pause(self) -> SchedulesSchedule:
        """Stop firing until the schedule is resumed."""

    async def resume(self) -> SchedulesSchedule:
        """Continue with the next fire after now."""

    async def preview(self, *, n: int | None = None) -> Preview:
        """Preview the next fires, with notes on clock changes."""

    def fires(
        self, *, outcome: FireOutcome | str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> AsyncIterator[Fire]:
        """List the outcomes of past fires, newest first."""

class Chains(Resource):
    def create(
        self,
        *,
        queue_library: str | None = ...,
        jobs: Sequence[NewChainJob | Mapping[str, Any]] | None = ...,
        retries: int | None = ...,
        on_unknown: OnUnknown | str | None = ...,
        on_backward_failure: OnBackwardFailure | str | None = ...,
        idempotency_key: str | None = None,
    ) -> ChainsChain:
        """Create a chain, perhaps with its jobs."""

    def list(
        self, *, state: ChainState | str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> Iterator[ChainsChain]:
        """List chains, a page at a time."""

class AsyncChains(Resource):
    async def create(
        self,
        *,
        queue_library: str | None = ...,
        jobs: Sequence[NewChainJob | Mapping[str, Any]] | None = ...,
        retries: int | None = ...,
        on_unknown: OnUnknown | str | None = ...,
        on_backward_failure: OnBackwardFailure | str | None = ...,
        idempotency_key: str | None = None,
    ) -> ChainsChain:
        """Create a chain, perhaps with its jobs."""

    def list(
        self, *, state: ChainState | str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> AsyncIterator[ChainsChain]:
        """List chains, a page at a time."""

class Chain(Resource):
    @property
    def id(self) -> str: ...
    def get(self) -> ChainsChain:
        """Show a chain with its jobs."""

    def wait(self, *, timeout: float | None = None) -> ChainsChain:
        """Wait until it has ended; raises if that takes longer than `timeout` seconds."""

    def delete(self) -> None:
        """Delete a chain that is not running, with its history."""

    def enqueue(
        self,
        *,
        forward_operation: str | None = ...,
        backward_operation: str | None = ...,
        arguments: Any = ...,
        operation_library: str | None = ...,
        expired_time: float | None = ...,
        idempotency_key: str | None = None,
    ) -> ChainJob:
        """Append a job to a chain that is not running."""

    def run(
        self, *, context: Mapping[str, Any] | None = ..., wait: float | None = None, idempotency_key: str | None = None
    ) -> ChainsChain:
        """Run a chain: 202 while it runs, 200 once it has ended."""

    def resume(self, *, wait: float | None = None) -> ChainsChain:
        """Run the backward operation again that blocked a chain."""

    def skip(self, *, wait: float | None = None) -> ChainsChain:
        """Leave the job that blocks a chain as failed, and go on."""

    def abort(self, *, wait: float | None = None) -> ChainsChain:
        """Stop the operation under way, and undo what was done."""

    def runs(self, *, cursor: str | None = None, limit: int | None = None) -> Iterator[Run]:
        """List the runs of a chain, newest first."""

    def run_of(self, n: str) -> Run:
        """Show one run of a chain."""

    def explain(self) -> Explanation:
        """Explain why a chain does not move."""

    def events(self, *, after: int | str = 0) -> Iterator[ChainEvent]:
        """Iterate over the events after `after` without end; reconnects when the connection is lost."""

class AsyncChain(Resource):
    @property
    def id(self) -> str: ...
    async def get(self) -> ChainsChain:
        """Show a chain with its jobs."""

    async def wait(self, *, timeout: float | None = None) -> ChainsChain:
        """Wait until it has ended; raises if that takes longer than `timeout` seconds."""

    async def delete(self) -> None:
        """Delete a chain that is not running, with its history."""

    async def enqueue(
        self,
        *,
        forward_operation: str | None = ...,
        backward_operation: str | None = ...,
        arguments: Any = ...,
        operation_library: str | None = ...,
        expired_time: float | None = ...,
        idempotency_key: str | None = None,
    ) -> ChainJob:
        """Append a job to a chain that is not running."""

    async def run(
        self, *, context: Mapping[str, Any] | None = ..., wait: float | None = None, idempotency_key: str | None = None
    ) -> ChainsChain:
        """Run a chain: 202 while it runs, 200 once it has ended."""

    async def resume(self, *, wait: float | None = None) -> ChainsChain:
        """Run the backward operation again that blocked a chain."""

    async def skip(self, *, wait: float | None = None) -> ChainsChain:
        """Leave the job that blocks a chain as failed, and go on."""

    async def abort(self, *, wait: float | None = None) -> ChainsChain:
        """Stop the operation under way, and undo what was done."""

    def runs(self, *, cursor: str | None = None, limit: int | None = None) -> AsyncIterator[Run]:
        """List the runs of a chain, newest first."""

    async def run_of(self, n: str) -> Run:
        """Show one run of a chain."""

    async def explain(self) -> Explanation:
        """Explain why a chain does not move."""

    def events(self, *, after: int | str = 0) -> AsyncIterator[ChainEvent]:
        """Iterate over the events after `after` without end; reconnects when the connection is lost."""

class Workflows(Resource):
    def create(
        self,
        name: str,
        steps: Sequence[NewStep | Mapping[str, Any]],
        schedule_config: NewScheduleConfig | Mapping[str, Any],
        *,
        variables: Mapping[str, Any] | None = ...,
        timezone: str | None = ...,
        status: WorkflowStatus | str | None = ...,
        notifications: Sequence[str] | None = ...,
        wait: float | None = None,
        idempotency_key: str | None = None,
    ) -> WorkflowsWorkflow:
        """Save a workflow: a draft, or an active one, which runs."""

    def list(
        self, *, status: WorkflowStatus | str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> Iterator[WorkflowsWorkflow]:
        """List workflows, a page at a time."""

    def execute(
        self, workflow_id: str, *, variables: Mapping[str, Any] | None = ..., idempotency_key: str | None = None
    ) -> WorkflowsExecution:
        """Run a workflow now; 202 past the time budget."""

    def cron(self) -> Registered:
        """Register the next runs of all active workflows."""

    def cron_by_get(self) -> Registered:
        """Like POST, for crons that send GET."""

    def execute_due(self) -> Executed:
        """Run the workflows that are due, in this process."""

    def monitor(self) -> Monitor:
        """Counts of runs, delays, next runs, failures."""

class AsyncWorkflows(Resource):
    async def create(
        self,
        name: str,
        steps: Sequence[NewStep | Mapping[str, Any]],
        schedule_config: NewScheduleConfig | Mapping[str, Any],
        *,
        variables: Mapping[str, Any] | None = ...,
        timezone: str | None = ...,
        status: WorkflowStatus | str | None = ...,
        notifications: Sequence[str] | None = ...,
        wait: float | None = None,
        idempotency_key: str | None = None,
    ) -> WorkflowsWorkflow:
        """Save a workflow: a draft, or an active one, which runs."""

    def list(
        self, *, status: WorkflowStatus | str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> AsyncIterator[WorkflowsWorkflow]:
        """List workflows, a page at a time."""

    async def execute(
        self, workflow_id: str, *, variables: Mapping[str, Any] | None = ..., idempotency_key: str | None = None
    ) -> WorkflowsExecution:
        """Run a workflow now; 202 past the time budget."""

    async def cron(self) -> Registered:
        """Register the next runs of all active workflows."""

    async def cron_by_get(self) -> Registered:
        """Like POST, for crons that send GET."""

    async def execute_due(self) -> Executed:
        """Run the workflows that are due, in this process."""

    async def monitor(self) -> Monitor:
        """Counts of runs, delays, next runs, failures."""

class Workflow(Resource):
    @property
    def id(self) -> str: ...
    def get(self) -> WorkflowsWorkflow:
        """Show a workflow, with its next run."""

    def change(
        self,
        *,
        name: str = ...,
        steps: Sequence[NewStep | Mapping[str, Any]] = ...,
        schedule_config: NewScheduleConfig | Mapping[str, Any] = ...,
        variables: Mapping[str, Any] = ...,
        timezone: str | None = ...,
        status: WorkflowStatus | str = ...,
        notifications: Sequence[str] = ...,
        expected: int | None = None,
    ) -> WorkflowsWorkflow:
        """Change a workflow; an active one is registered again."""

    def delete(self, *, expected: int | None = None) -> None:
        """Delete a workflow that has no run under way."""

    def activate(self, *, wait: float | None = None) -> WorkflowsWorkflow:
        """Make a workflow run by its schedule."""

    def pause(self) -> WorkflowsWorkflow:
        """Start no more runs of a workflow."""

    def dry_run(
        self, *, variables: Mapping[str, Any] | None = ..., outputs: Mapping[str, Any] | None = ...
    ) -> DryRunResult:
        """Render every message of a workflow, sending none."""

    def runs(self, *, cursor: str | None = None, limit: int | None = None) -> Iterator[WorkflowRun]:
        """List the runs of a workflow, newest first."""

    def run_of(self, run: str) -> WorkflowRun:
        """Show a run with its steps."""

    def cancel(self, run: str) -> WorkflowRun:
        """Cancel a run; 202 while its step is being stopped."""

    def retry(self, run: str) -> WorkflowRun:
        """Run a failed run again, from the step that failed."""

    def explain(self, run: str) -> Explanation:
        """Explain why a run does not go on."""

class AsyncWorkflow(Resource):
    @property
    def id(self) -> str: ...
    async def get(self) -> WorkflowsWorkflow:
        """Show a workflow, with its next run."""

    async def change(
        self,
        *,
        name: str = ...,
        steps: Sequence[NewStep | Mapping[str, Any]] = ...,
        schedule_config: NewScheduleConfig | Mapping[str, Any] = ...,
        variables: Mapping[str, Any] = ...,
        timezone: str | None = ...,
        status: WorkflowStatus | str = ...,
        notifications: Sequence[str] = ...,
        expected: int | None = None,
    ) -> WorkflowsWorkflow:
        """Change a workflow; an active one is registered again."""

    async def delete(self, *, expected: int | None = None) -> None:
        """Delete a workflow that has no run under way."""

    async def activate(self, *, wait: float | None = None) -> WorkflowsWorkflow:
        """Make a workflow run by its schedule."""

    async def pause(self) -> WorkflowsWorkflow:
        """Start no more runs of a workflow."""

    async def dry_run(
        self, *, variables: Mapping[str, Any] | None = ..., outputs: Mapping[str, Any] | None = ...
    ) -> DryRunResult:
        """Render every message of a workflow, sending none."""

    def runs(self, *, cursor: str | None = None, limit: int | None = None) -> AsyncIterator[WorkflowRun]:
        """List the runs of a workflow, newest first."""

    async def run_of(self, run: str) -> WorkflowRun:
        """Show a run with its steps."""

    async def cancel(self, run: str) -> WorkflowRun:
        """Cancel a run; 202 while its step is being stopped."""

    async def retry(self, run: str) -> WorkflowRun:
        """Run a failed run again, from the step that failed."""

    async def explain(self, run: str) -> Explanation:
        """Explain why a run does not go on."""

class Replays(Resource):
    def create(self, file: str | PathLike[str], *, idempotency_key: str | None = None) -> ExportsReplay:
        """Upload a replay, as the file `file` of a form."""

    def list(self, *, page: int | None = None, size: int | None = None) -> ReplayPage:
        """List your replays, newest first."""

class AsyncReplays(Resource):
    async def create(self, file: str | PathLike[str], *, idempotency_key: str | None = None) -> ExportsReplay:
        """Upload a replay, as the file `file` of a form."""

    async def list(self, *, page: int | None = None, size: int | None = None) -> ReplayPage:
        """List your replays, newest first."""

class Replay(Resource):
    @property
    def id(self) -> str: ...
    def get(self) -> ExportsReplay:
        """Show a replay of yours."""

    def delete(self) -> None:
        """Delete a replay of yours of which no export is unfinished."""

    def export_mp4(
        self,
        *,
        width: int | None = ...,
        height: int | None = ...,
        startMs: int | None = ...,
        lengthMs: int | None = ...,
        fps: int | None = ...,
        idempotency_key: str | None = None,
    ) -> ExportCreated:
        """Export a replay of yours to a video."""

    def export_thumbnail(
        self,
        *,
        width: int | None = ...,
        height: int | None = ...,
        startMs: int | None = ...,
        lengthMs: int | None = ...,
        idempotency_key: str | None = None,
    ) -> ExportCreated:
        """Export a picture of a replay of yours."""

class AsyncReplay(Resource):
    @property
    def id(self) -> str: ...
    async def get(self) -> ExportsReplay:
        """Show a replay of yours."""

    async def delete(self) -> None:
        """Delete a replay of yours of which no export is unfinished."""

    async def export_mp4(
        self,
        *,
        width: int | None = ...,
        height: int | None = ...,
        startMs: int | None = ...,
        lengthMs: int | None = ...,
        fps: int | None = ...,
        idempotency_key: str | None = None,
    ) -> ExportCreated:
        """Export a replay of yours to a video."""

    async def export_thumbnail(
        self,
        *,
        width: int | None = ...,
        height: int | None = ...,
        startMs: int | None = ...,
        lengthMs: int | None = ...,
        idempotency_key: str | None = None,
    ) -> ExportCreated:
        """Export a picture of a replay of yours."""

class Jobs(Resource):
    def list(
        self,
        *,
        jobType: JobType | str | None = None,
        status: ExportStatus | str | None = None,
        page: int | None = None,
        size: int | None = None,
    ) -> ExportPage:
        """List your exports, newest first."""
    def events(self, *, after: int | str = 0) -> Iterator[ExportEvent]:
        """Iterate over the events after `after` without end; reconnects when the connection is lost."""

class AsyncJobs(Resource):
    async def list(
        self,
        *,
        jobType: JobType | str | None = None,
        status: ExportStatus | str | None = None,
        page: int | None = None,
        size: int | None = None,
    ) -> ExportPage:
        """List your exports, newest first."""
    def events(self, *, after: int | str = 0) -> AsyncIterator[ExportEvent]:
        """Iterate over the events after `after` without end; reconnects when the connection is lost."""

class Job(Resource):
    @property
    def id(self) -> str: ...
    def get(self) -> Export:
        """Show an export of yours."""

    def wait(self, *, timeout: float | None = None) -> Export:
        """Wait until it has ended; raises if that takes longer than `timeout` seconds."""

    def cancel(self) -> ExportsCancelAnswer:
        """Cancel an export: 200 once cancelled, 202 while it stops."""

    def result(self, file: str | PathLike[str]) -> None:
        """Download the file of an export that has succeeded."""

    def explain(self) -> Explanation:
        """Explain why an export does not run."""

class AsyncJob(Resource):
    @property
    def id(self) -> str: ...
    async def get(self) -> Export:
        """Show an export of yours."""

    async def wait(self, *, timeout: float | None = None) -> Export:
        """Wait until it has ended; raises if that takes longer than `timeout` seconds."""

    async def cancel(self) -> ExportsCancelAnswer:
        """Cancel an export: 200 once cancelled, 202 while it stops."""

    async def result(self, file: str | PathLike[str]) -> None:
        """Download the file of an export that has succeeded."""

    async def explain(self) -> Explanation:
        """Explain why an export does not run."""

class SyncResources:
    surfaces: ClassVar[tuple[Surface, ...]]
    _transport: Any
    _retry: RetryConfig
    @property
    def engine(self) -> Engine: ...
    @property
    def offices(self) -> Offices: ...
    def office(self, id: str, /) -> Office: ...
    @property
    def tasks(self) -> Tasks: ...
    def task(self, id: str, /) -> Task: ...
    @property
    def executions(self) -> Executions: ...
    def execution(self, id: str, /) -> Execution: ...
    @property
    def schedules(self) -> Schedules: ...
    def schedule(self, id: str, /) -> Schedule: ...
    @property
    def chains(self) -> Chains: ...
    def chain(self, id: str, /) -> Chain: ...
    @property
    def workflows(self) -> Workflows: ...
    def workflow(self, id: str, /) -> Workflow: ...
    @property
    def replays(self) -> Replays: ...
    def replay(self, id: str, /) -> Replay: ...
    @property
    def jobs(self) -> Jobs: ...
    def job(self, id: str, /) -> Job: ...

class AsyncResources:
    surfaces: ClassVar[tuple[Surface, ...]]
    _transport: Any
    _retry: RetryConfig
    @property
    def engine(self) -> AsyncEngine: ...
    @property
    def offices(self) -> AsyncOffices: ...
    def office(self, id: str, /) -> AsyncOffice: ...
    @property
    def tasks(self) -> AsyncTasks: ...
    def task(self, id: str, /) -> AsyncTask: ...
    @property
    def executions(self) -> AsyncExecutions: ...
    def execution(self, id: str, /) -> AsyncExecution: ...
    @property
    def schedules(self) -> AsyncSchedules: ...
    def schedule(self, id: str, /) -> AsyncSchedule: ...
    @property
    def chains(self) -> AsyncChains: ...
    def chain(self, id: str, /) -> AsyncChain: ...
    @property
    def workflows(self) -> AsyncWorkflows: ...
    def workflow(self, id: str, /) -> AsyncWorkflow: ...
    @property
    def replays(self) -> AsyncReplays: ...
    def replay(self, id: str, /) -> AsyncReplay: ...
    @property
    def jobs(self) -> AsyncJobs: ...
    def job(self, id: str, /) -> AsyncJob: ...
