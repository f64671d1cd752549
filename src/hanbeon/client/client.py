"""A server, to be asked from a program: `Client` waits for each answer, `AsyncClient` is awaited."""

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
    """Asks one server; `with Client(url) as client:` closes its connections. May be used by many threads."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        token: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retry_for: float = RETRY_SECONDS,
        verify: ssl.SSLContext | bool = True,
    ) -> None:
        """`timeout`: seconds for one answer. `retry_for`: seconds in which a request may be sent again; 0 for never."""
        self._manner = _manner(retry_for)
        self._line = SyncHttpTransport(Address(url, token, timeout, verify))

    @property
    def offices(self) -> Offices:
        """All offices."""
        return Offices(self._line, self._manner, {})

    def office(self, office_id: str) -> Office:
        """One office, which is not asked for yet."""
        return Office(self._line, self._manner, {"id": office_id})

    @property
    def tasks(self) -> Tasks:
        """All tasks."""
        return Tasks(self._line, self._manner, {})

    def task(self, task_id: str) -> Task:
        """One task, which is not asked for yet."""
        return Task(self._line, self._manner, {"task_id": task_id})

    @property
    def executions(self) -> Executions:
        """All executions."""
        return Executions(self._line, self._manner, {})

    def execution(self, execution_id: str) -> Execution:
        """One execution, which is not asked for yet."""
        return Execution(self._line, self._manner, {"id": execution_id})

    @property
    def schedules(self) -> Schedules:
        """All schedules."""
        return Schedules(self._line, self._manner, {})

    def schedule(self, schedule_id: str) -> Schedule:
        """One schedule, which is not asked for yet."""
        return Schedule(self._line, self._manner, {"id": schedule_id})

    def close(self) -> None:
        self._line.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class AsyncClient:
    """Asks one server from an event loop; `async with AsyncClient(url) as client:` closes its connections."""

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
        self._manner = _manner(retry_for)
        self._line = AsyncHttpTransport(Address(url, token, timeout, verify))

    @property
    def offices(self) -> AsyncOffices:
        """All offices."""
        return AsyncOffices(self._line, self._manner, {})

    def office(self, office_id: str) -> AsyncOffice:
        """One office, which is not asked for yet."""
        return AsyncOffice(self._line, self._manner, {"id": office_id})

    @property
    def tasks(self) -> AsyncTasks:
        """All tasks."""
        return AsyncTasks(self._line, self._manner, {})

    def task(self, task_id: str) -> AsyncTask:
        """One task, which is not asked for yet."""
        return AsyncTask(self._line, self._manner, {"task_id": task_id})

    @property
    def executions(self) -> AsyncExecutions:
        """All executions."""
        return AsyncExecutions(self._line, self._manner, {})

    def execution(self, execution_id: str) -> AsyncExecution:
        """One execution, which is not asked for yet."""
        return AsyncExecution(self._line, self._manner, {"id": execution_id})

    @property
    def schedules(self) -> AsyncSchedules:
        """All schedules."""
        return AsyncSchedules(self._line, self._manner, {})

    def schedule(self, schedule_id: str) -> AsyncSchedule:
        """One schedule, which is not asked for yet."""
        return AsyncSchedule(self._line, self._manner, {"id": schedule_id})

    async def close(self) -> None:
        await self._line.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()


def _manner(retry_for: float) -> RetryConfig:
    if not retry_for >= 0:
        raise InvalidInput(f"{retry_for!r} does not fit; use seconds, 0 for a single try", field="retry_for")
    return RetryConfig(retry_for)
