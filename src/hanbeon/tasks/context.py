"""The engine's interface for a running task's body. Everything it writes carries the attempt's fence."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

from hanbeon.clock import MICROS
from hanbeon.domain.job import LONGEST_US, Claimed, NewJob, session_id
from hanbeon.domain.log import LogStream
from hanbeon.errors import DatabaseUnavailable, InvalidInput, TransactionUnsupported
from hanbeon.rule import Rule

if TYPE_CHECKING:
    from hanbeon.store.user_transaction import UserTransaction
    from hanbeon.tasks.request import JobRequest

T = TypeVar("T")


class PutOffRequest(BaseException):
    """Unwinds a body that asked to be run again later. Not an Exception, so that no `except Exception` swallows it."""

    def __init__(self, seconds: float, message: str) -> None:
        super().__init__(message)
        self.seconds, self.message = seconds, message


class AttemptBackend(Protocol):
    """The engine's side of one attempt, behind its context."""

    job: Claimed

    @property
    def stopping(self) -> bool: ...

    soft_timeout_passed: bool
    on_soft_timeout: Callable[[], None] | None
    """Called on the event loop when it passes."""

    @property
    def give_up_at(self) -> float:
        """When the work must begin to stop unless its lease is renewed before, on the engine's monotonic clock."""
        ...

    def body_began(self, now: float) -> None:
        """The body starts only now, some time after its executor accepted it."""
        ...

    def awaits_begin(self) -> None:
        """The body has to wait for a while before it begins; `begin_noted` must be awaited then."""
        ...

    async def begin_noted(self) -> None:
        """Return once the body may begin."""
        ...

    async def write_progress(self, value: Any) -> None: ...

    def log(self, stream: LogStream, data: bytes) -> None:
        """Take output. Never blocks, never raises, and keeps no more than the limit; from any thread.

        Any chunking will do: a line that is not complete goes on with the next call for that stream.
        """
        ...

    async def transaction(self) -> UserTransaction: ...

    async def enqueue(self, request: JobRequest[Any]) -> str: ...

    def add_child(self, child: NewJob) -> None: ...


def transaction_unsupported(executor: str) -> TransactionUnsupported:
    return TransactionUnsupported(Rule("no_transaction_here", executor=executor))


def log_lines(text: str) -> bytes:
    """Encode text as whole lines."""
    return f"{text}\n".encode(errors="replace")


class _Facts:
    """The part that both kinds of context share."""

    def __init__(self, backend: AttemptBackend) -> None:
        self._backend = backend

    @property
    def job_id(self) -> str:
        return self._backend.job.id

    @property
    def queue(self) -> str:
        return self._backend.job.queue

    @property
    def role(self) -> str:
        return self._backend.job.role

    @property
    def fence(self) -> int:
        """A number that grows with every claim of this job: pass it to external systems that reject an older one."""
        return self._backend.job.fence

    @property
    def attempt(self) -> int:
        """The number of this attempt, from 1; manual retries do not reset it."""
        return self._backend.job.fence

    @property
    def session_id(self) -> str:
        """Unique per attempt: a name for this attempt in systems that know sessions."""
        return session_id(self.job_id, self.fence)

    @property
    def retry_count(self) -> int:
        return self._backend.job.retry_count

    @property
    def comment(self) -> str | None:
        """The comment of the user who retried this job last; None if nobody did, or without one."""
        return self._backend.job.comment

    @property
    def idempotency_key(self) -> str:
        """Constant over all attempts of this job: pass it to external systems that drop duplicates."""
        return self._backend.job.id

    @property
    def stopping(self) -> bool:
        """True when the work should end: cancelled, past its deadline, its lease in danger, or at shutdown.

        End it by raising (`ctx.retry_in(0)` asks for another try): after a shutdown, a body that returns has succeeded.
        """
        return self._backend.stopping

    @property
    def soft_timeout_passed(self) -> bool:
        """True once the task's `soft_timeout` has passed. In a thread that is all; elsewhere SoftTimeout is raised."""
        return self._backend.soft_timeout_passed

    def log(self, text: str) -> None:
        """Add a line, or several, to the job's log, which can be read while the job runs. It costs microseconds."""
        self._backend.log(LogStream.TASK, log_lines(text))

    def retry_in(self, seconds: float, message: str = "") -> NoReturn:
        """End this attempt now and run again after `seconds`; not a failure, burns no retry."""
        if not 0 <= seconds * MICROS <= LONGEST_US:  # Also refuses NaN.
            raise InvalidInput(Rule("must_be", what=Rule("context_seconds"), got=seconds), field="seconds")
        raise PutOffRequest(seconds, message)


class Context(_Facts):
    """For async tasks: their first parameter, if it is annotated with this."""

    async def progress(self, value: Any) -> None:
        """Record the progress: any JSON, replaced each time. Raises LeaseLost if this attempt was superseded."""
        await self._backend.write_progress(value)

    async def transaction(self) -> UserTransaction:
        """A database transaction that commits if and only if this attempt succeeds. The same one every time."""
        return await self._backend.transaction()

    async def enqueue(self, request: JobRequest[Any]) -> str:
        """Create a job if and only if this attempt succeeds; return its id."""
        return await self._backend.enqueue(request)


class SyncContext(_Facts):
    """For tasks that are plain functions, run in a thread or a process: like Context, but blocking."""

    def __init__(self, backend: AttemptBackend, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(backend)
        self._loop = loop

    def progress(self, value: Any) -> None:
        """Record the progress: any JSON, replaced each time. Raises LeaseLost if this attempt was superseded."""
        self._wait(self._backend.write_progress(value))

    def transaction(self) -> SyncTransaction:
        """A database transaction that commits if and only if this attempt succeeds. The same one every time."""
        return SyncTransaction(self._wait(self._backend.transaction()), self._loop)

    def enqueue(self, request: JobRequest[Any]) -> str:
        """Create a job if and only if this attempt succeeds; return its id."""
        return self._wait(self._backend.enqueue(request))

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


_current: contextvars.ContextVar[SyncContext] = contextvars.ContextVar("hanbeon_current")


def current() -> SyncContext:
    """Return the context of the operation that calls it: idempotency key, fence, log, progress, a requested stop.

    For operations of chains, whose arguments have no place for it.
    """
    try:
        return _current.get()
    except LookupError:
        raise InvalidInput(Rule("outside_operation")) from None


def set_current(context: SyncContext) -> contextvars.Token[SyncContext]:
    return _current.set(context)


def reset_current(token: contextvars.Token[SyncContext]) -> None:
    _current.reset(token)


class SyncTransaction:
    """A transaction of the App for code in a thread, in the database's own SQL and placeholders."""

    def __init__(self, transaction: UserTransaction, loop: asyncio.AbstractEventLoop) -> None:
        self.user_transaction, self._loop = transaction, loop

    def execute(self, sql: str, *args: Any) -> None:
        """Run a statement and drop its rows."""
        self._wait(lambda: self.user_transaction.execute(sql, *args))

    def fetch(self, sql: str, *args: Any) -> Sequence[Any]:
        """Run a statement; its rows, readable by position and by name."""
        return self._wait(lambda: self.user_transaction.fetch(sql, *args))

    def _wait(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._loop.is_closed():
            raise DatabaseUnavailable(Rule("transaction_ended_here"))
        return asyncio.run_coroutine_threadsafe(work(), self._loop).result()
