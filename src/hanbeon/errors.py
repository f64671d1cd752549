"""Every error a caller can meet: a stable code, a transport-free kind, and a message that names the remedy.

HanbeonError
├── InvalidInput        the caller's input is invalid; nothing was written
├── NotFound            no such job, queue, task …
├── Conflict            the object exists, but its state forbids the operation
├── Unavailable         the database or a server cannot be used now, or at this version
└── WorkFailed          raised by a task's body, or by waiting for a job that did not succeed
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from hanbeon.error_base import Conflict as Conflict
from hanbeon.error_base import HanbeonError as HanbeonError
from hanbeon.error_base import InvalidInput as InvalidInput
from hanbeon.error_base import Kind as Kind
from hanbeon.error_base import NotFound as NotFound
from hanbeon.error_base import Unavailable as Unavailable
from hanbeon.quotation import plain, quoted
from hanbeon.rule import Rule
from hanbeon.work_errors import JobCancelled as JobCancelled
from hanbeon.work_errors import JobFailed as JobFailed
from hanbeon.work_errors import MessageFailed as MessageFailed
from hanbeon.work_errors import PermanentError as PermanentError
from hanbeon.work_errors import SecretUnavailable as SecretUnavailable
from hanbeon.work_errors import SoftTimeout as SoftTimeout
from hanbeon.work_errors import TaskError as TaskError
from hanbeon.work_errors import WaitTimeout as WaitTimeout
from hanbeon.work_errors import WorkFailed as WorkFailed

if TYPE_CHECKING:
    from hanbeon.surface_errors import *  # noqa: F403 - a stub, generated from the declarations of the surfaces

_FIELD_CHARACTERS = 500


class OtherIncarnation(InvalidInput):
    """The cursor is from before a restore of the database."""

    code = "other_incarnation"


class UnknownTask(InvalidInput):
    """No task of that name is registered."""

    code = "unknown_task"


class TaskDefinitionError(InvalidInput):
    """A function cannot become a task as it is written."""

    code = "task_definition"


class ConfigInvalid(InvalidInput):
    """Invalid configuration file; none of its contents are in force."""

    code = "config_invalid"

    def __init__(self, file: str, place: str, message: str | Rule, line: int | None = None) -> None:
        super().__init__(Rule("config_invalid", file=file, place=place, message=message, line=line))
        self.file, self.field, self.line = file, plain(place, _FIELD_CHARACTERS) or None, line


class NotMultipart(InvalidInput):
    """The upload is not a form with one file."""

    code = "not_multipart"


class ArgumentsDoNotFit(InvalidInput):
    """The arguments do not match the task's signature."""

    code = "arguments_do_not_fit"


class NotSerialisable(InvalidInput):
    """A value cannot be encoded as JSON."""

    code = "not_serialisable"


class PayloadTooLarge(InvalidInput):
    """Arguments or a result exceed the size limit."""

    code = "payload_too_large"


class DependencyCycle(InvalidInput):
    """The jobs depend on each other in a circle."""

    code = "dependency_cycle"

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = tuple(ids)
        path = " → ".join([*self.ids, self.ids[0]])
        super().__init__(Rule("dependency_cycle", path=path), field="depends_on")


class UnknownDependency(InvalidInput):
    """A dependency names a job that does not exist, or one of another queue."""

    code = "unknown_dependency"

    def __init__(self, message: str | Rule, ids: Sequence[str]) -> None:
        self.ids = tuple(ids)
        super().__init__(message, field="depends_on")


class NotInTransaction(InvalidInput):
    """The connection is not inside a transaction, or not inside one that can still be committed."""

    code = "not_in_transaction"


class OtherDatabase(InvalidInput):
    """The connection leads to another database than the App's."""

    code = "other_database"


class InsideEventLoop(InvalidInput):
    """A synchronous call was made where an event loop runs, which it would block."""

    code = "inside_event_loop"


class AuthMissing(InvalidInput):
    """A server that others can reach needs tokens first."""

    code = "auth_missing"


class JobNotFound(NotFound):
    """No job has that id."""

    code = "job_not_found"

    def __init__(self, job_id: str) -> None:
        self.job_id = job_id
        super().__init__(Rule("job_not_found", id=plain(str(job_id), 40)))


class ResultNotKept(NotFound):
    """The job has succeeded, and its task keeps no results."""

    code = "result_not_kept"

    def __init__(self, job_id: str, task: str) -> None:
        self.job_id = job_id
        super().__init__(Rule("result_not_kept", id=plain(str(job_id), 40), task=quoted(task)))


class TaskNotFound(NotFound):
    """No worker has registered a task of that name."""

    code = "task_not_found"

    def __init__(self, name: object) -> None:
        super().__init__(Rule("task_not_found", task=quoted(str(name))))


class ExecutionNotFound(NotFound):
    """No execution has that id, or it was pruned."""

    code = "execution_not_found"

    def __init__(self, execution_id: object) -> None:
        super().__init__(Rule("execution_not_found", id=quoted(str(execution_id))))


class TokenNotFound(NotFound):
    """No token has that number."""

    code = "token_not_found"

    def __init__(self, number: int) -> None:
        super().__init__(Rule("token_not_found", number=number))


class WrongState(Conflict):
    """The job is in a state that does not allow this."""

    code = "wrong_state"

    def __init__(self, job_id: str, state: str, verb: str, allowed: Sequence[str]) -> None:
        self.job_id, self.state = job_id, state
        super().__init__(Rule("wrong_state", job=job_id, state=state, allowed=allowed, verb=verb))


class MovedElsewhere(Conflict):
    """The job belongs to a surface that moves it itself."""

    code = "moved_elsewhere"

    def __init__(self, job_id: str, surface: str, path: str | None) -> None:
        self.job_id, self.path = job_id, path
        super().__init__(Rule("moved_elsewhere", job=job_id, surface=surface, path=path))


class LimitsSetElsewhere(Conflict):
    """The limits of the queue follow from the settings of its owner."""

    code = "limits_set_elsewhere"

    def __init__(self, queue: str, owner: str, path: str) -> None:
        self.queue, self.path = queue, path
        super().__init__(Rule("limits_set_elsewhere", queue=quoted(queue), owner=owner, path=path))


class IdAlreadyUsed(Conflict):
    """The id or idempotency key was already used for another job."""

    code = "id_already_used"

    def __init__(self, what: str, value: str, job_id: str) -> None:
        self.job_id = job_id
        super().__init__(Rule("id_already_used", what=what, value=quoted(value), job=job_id))


class TokenAlreadyCreated(Conflict):
    """The request has created a token before; its text was in the first response and is stored nowhere."""

    code = "token_already_created"

    def __init__(self, number: int) -> None:
        super().__init__(Rule("token_already_created", number=number))


class UniqueKeyTaken(Conflict):
    """An unfinished job already holds the unique key."""

    code = "unique_key_taken"

    def __init__(self, key: str, job_id: str, state: str) -> None:
        self.key, self.job_id = key, job_id
        super().__init__(Rule("unique_key_taken", key=quoted(key), job=job_id, state=state))


class ExecutionUnfinished(Conflict):
    """The task cannot be run by hand while one of its executions is unfinished."""

    code = "execution_unfinished"

    def __init__(self, task: str, execution_id: str) -> None:
        super().__init__(Rule("execution_unfinished", execution=execution_id, task=quoted(task)))
        self.execution_id = execution_id


class TransactionUndone(Conflict):
    """The transaction was rolled back because of concurrent changes; run it again."""

    code = "transaction_undone"


class Changed(Conflict):
    """The resource has changed since it was read; read it again."""

    code = "changed"


class LeaseLost(Conflict):
    """This attempt no longer holds its job: the lease ended, or another claim has a newer fence."""

    code = "lease_lost"

    def __init__(self, job_id: str, fence: int) -> None:
        self.job_id, self.fence = job_id, fence
        super().__init__(Rule("lease_lost", attempt=fence, job=job_id))


class DatabaseUnavailable(Unavailable):
    """The database is unavailable."""

    code = "database_unavailable"
    ids: tuple[str, ...] = ()
    """Raised by `enqueue`: the ids of the jobs, which may exist; enqueue them again under these ids."""


class Busy(Unavailable):
    """Too many costly requests of this kind at once; try again later."""

    code = "busy"


class RedisUnavailable(Unavailable):
    """Redis is unavailable."""

    code = "redis_unavailable"


class DatabaseCorrupt(DatabaseUnavailable):
    """The database is damaged; restore it from a backup."""

    code = "database_corrupt"


class DatabaseRestored(DatabaseUnavailable):
    """The database was restored from a backup while this process had it open."""

    code = "database_restored"

    def __init__(self) -> None:
        super().__init__(Rule("database_restored"))


class EventsMissed(Conflict):
    """Events after the cursor are not there: deleted after their retention, or gone with a restore.

    `reason` is `pruned` or `ahead`; go on with `after`.
    """

    code = "events_missed"

    def __init__(self, reason: str, after: int) -> None:
        super().__init__(Rule("events_pruned" if reason == "pruned" else "events_ahead", after=after))
        self.reason, self.after = reason, after


class SchemaMissing(Unavailable):
    """The database has no Hanbeon schema yet."""

    code = "schema_missing"


class SchemaTooOld(Unavailable):
    """The database's schema is older than this release needs."""

    code = "schema_too_old"


class SchemaTooNew(Unavailable):
    """The database's schema is newer than this release understands."""

    code = "schema_too_new"


class SecondSqliteLibrary(Unavailable):
    """Another SQLite library has the same file open in this process; the two would drop each other's locks."""

    code = "second_sqlite_library"


class AddressUnavailable(Unavailable):
    """A server cannot listen at that address and port."""

    code = "address_unavailable"


class ExtraMissing(Unavailable):
    """An optional part of Hanbeon is not installed."""

    code = "extra_missing"


class AppNotOpen(Unavailable):
    """The App was used before it was opened or after it was closed."""

    code = "app_not_open"


class TransactionTooLong(Unavailable):
    """A transaction held SQLite's only write lock for too long."""

    code = "transaction_too_long"


class TransactionUnsupported(Unavailable):
    """This executor cannot share a transaction of the engine with the task."""

    code = "transaction_unsupported"


class ProcessesUnsupported(Unavailable):
    """This system cannot guarantee that a process and everything it started is dead."""

    code = "processes_unsupported"


def _of(module: object) -> dict[str, type[HanbeonError]]:
    return {
        name: each for name, each in vars(module).items() if isinstance(each, type) and issubclass(each, HanbeonError)
    }


def _of_surfaces() -> dict[str, type[HanbeonError]]:
    """Return the errors that surfaces declare, by name."""
    # By name, and when they are asked for: the registry is far above this module.
    surfaces = import_module("hanbeon.surfaces.registry").SURFACES
    return {name: each for it in surfaces if it.errors for name, each in _of(import_module(it.errors)).items()}


def all_errors() -> list[type[HanbeonError]]:
    """Return every error, those of the surfaces included."""
    return list((_of(import_module(__name__)) | _of_surfaces()).values())


if not TYPE_CHECKING:

    def __getattr__(name: str) -> type[HanbeonError]:
        """The error of a surface, under the name by which all others are imported."""
        found = None if name.startswith("_") else _of_surfaces().get(name)
        if found is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return found
