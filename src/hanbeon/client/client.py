"""Clients of a server: `Client` blocks, `AsyncClient` is awaited."""

from __future__ import annotations

import ssl

from hanbeon.client.address import Address
from hanbeon.client.calls import RetryConfig
from hanbeon.client.offices import AsyncOffice, AsyncOffices, Office, Offices
from hanbeon.client.schedules import (
    AsyncExecution,
    AsyncExecutions,
    AsyncSchedule,
    AsyncSchedules,
    AsyncTask,
    AsyncTasks,
    Execution,
    Executions,
    Schedule,
    Schedules,
    Task,
    Tasks,
)
from hanbeon.client.transport import AsyncHttpTransport, SyncHttpTransport
from hanbeon.errors import InvalidInput

TIMEOUT_SECONDS = 30.0
RETRY_SECONDS = 30.0


class Client:
    """A client of one server; `with Client(url) as client:` closes its connections. It is thread-safe."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        token: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retry_for: float = RETRY_SECONDS,
        verify: ssl.SSLContext | bool = True,
    ) -> None:
        """`timeout`: seconds for one response. `retry_for`: seconds during which a request is retried; 0 for never."""
        self._retry = _retry_config(retry_for)
        self._transport = SyncHttpTransport(Address(url, token, timeout, verify))

    @property
    def offices(self) -> Offices:
        """All offices."""
        return Offices(self._transport, self._retry, {})

    def office(self, office_id: str) -> Office:
        """One office; no request is sent yet."""
        return Office(self._transport, self._retry, {"id": office_id})

    @property
    def tasks(self) -> Tasks:
        """All tasks."""
        return Tasks(self._transport, self._retry, {})

    def task(self, task_id: str) -> Task:
        """One task; no request is sent yet."""
        return Task(self._transport, self._retry, {"task_id": task_id})

    @property
    def executions(self) -> Executions:
        """All executions."""
        return Executions(self._transport, self._retry, {})

    def execution(self, execution_id: str) -> Execution:
        """One execution; no request is sent yet."""
        return Execution(self._transport, self._retry, {"id": execution_id})

    @property
    def schedules(self) -> Schedules:
        """All schedules."""
        return Schedules(self._transport, self._retry, {})

    def schedule(self, schedule_id: str) -> Schedule:
        """One schedule; no request is sent yet."""
        return Schedule(self._transport, self._retry, {"id": schedule_id})

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class AsyncClient:
    """A client of one server for an event loop; `async with AsyncClient(url) as client:` closes its connections."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        token: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retry_for: float = RETRY_SECONDS,
        verify: ssl.SSLContext | bool = True,
    ) -> None:
        """As for `Client`."""
        self._retry = _retry_config(retry_for)
        self._transport = AsyncHttpTransport(Address(url, token, timeout, verify))

    @property
    def offices(self) -> AsyncOffices:
        """All offices."""
        return AsyncOffices(self._transport, self._retry, {})

    def office(self, office_id: str) -> AsyncOffice:
        """One office; no request is sent yet."""
        return AsyncOffice(self._transport, self._retry, {"id": office_id})

    @property
    def tasks(self) -> AsyncTasks:
        """All tasks."""
        return AsyncTasks(self._transport, self._retry, {})

    def task(self, task_id: str) -> AsyncTask:
        """One task; no request is sent yet."""
        return AsyncTask(self._transport, self._retry, {"task_id": task_id})

    @property
    def executions(self) -> AsyncExecutions:
        """All executions."""
        return AsyncExecutions(self._transport, self._retry, {})

    def execution(self, execution_id: str) -> AsyncExecution:
        """One execution; no request is sent yet."""
        return AsyncExecution(self._transport, self._retry, {"id": execution_id})

    @property
    def schedules(self) -> AsyncSchedules:
        """All schedules."""
        return AsyncSchedules(self._transport, self._retry, {})

    def schedule(self, schedule_id: str) -> AsyncSchedule:
        """One schedule; no request is sent yet."""
        return AsyncSchedule(self._transport, self._retry, {"id": schedule_id})

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()


def _retry_config(retry_for: float) -> RetryConfig:
    if not retry_for >= 0:
        raise InvalidInput(f"must be seconds, or 0 for a single attempt, got {retry_for!r}", field="retry_for")
    return RetryConfig(retry_for)
