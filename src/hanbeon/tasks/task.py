"""A task: a function, a command or an HTTP call with a name, and how its jobs are to be run."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, ParamSpec, Protocol, TypeVar, cast
from zoneinfo import ZoneInfo

import msgspec

from hanbeon.clock import seconds_of
from hanbeon.domain.executions import TaskSettings
from hanbeon.domain.job import DEFAULT_QUEUE, NO_HANDLER
from hanbeon.domain.retry import Backoff, ExceptionFilter, OnLost, RetryPolicy, full_name
from hanbeon.errors import InvalidInput, PermanentError, TaskDefinitionError
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.tasks.context import Context, SyncContext
from hanbeon.tasks.options import (
    check_kinds,
    check_names,
    duration_us,
    exception_classes,
    kinds_of,
    size_bytes,
    texts,
)
from hanbeon.tasks.request import JobRequest
from hanbeon.tasks.signature import Signature, TaskSignature

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

ASYNC, THREAD, PROCESS, COMMAND, HTTP, STREAM = "async", "thread", "process", "command", "http", "stream"


class Spec(Protocol):
    """A body that is not a Python function, as its executor needs it."""

    executor: ClassVar[str]

    def signature(self, task: str) -> Signature: ...

    def __str__(self) -> str:
        """A short description of what it runs."""
        ...


@contextlib.contextmanager
def defining(name: str) -> Iterator[None]:
    """Turn invalid input into an error of the task's definition."""
    try:
        yield
    except InvalidInput as error:
        invalid = TaskDefinitionError(Rule("of_task", error=error, task=repr(name[:40])))
        invalid.field = error.field
        raise invalid from error


class TaskOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Defaults for a task's jobs; options of a job override them. Durations are in seconds."""

    queue: str = DEFAULT_QUEUE
    role: str = ""
    priority: int = 0
    timeout: float | None = None
    soft_timeout: float | None = None
    expires: float | None = None
    retries: int = 3
    retry_delay: float = 60.0
    backoff: Backoff = Backoff.EXPONENTIAL
    jitter: float = 0.0
    on_lost: OnLost = OnLost.RETRY
    executor: str | None = None
    memory: int | str | None = None
    roles: tuple[str, ...] = ()
    retry_on: tuple[type[BaseException], ...] = ()
    no_retry_on: tuple[type[BaseException], ...] = ()
    keep_result: bool = True

    @classmethod
    def of(cls, name: str, given: Mapping[str, Any]) -> TaskOptions:
        """Build the options of a task from keyword arguments, with enums given as text."""
        options = dict(given)
        with defining(name):
            check_names(options, cls.__struct_fields__, "a task")
            for field, choices in (("backoff", Backoff), ("on_lost", OnLost)):
                if field in options and options[field] not in list(choices):
                    raise InvalidInput(
                        Rule("must_be", what=Rule("one_of", choices=choices), got=repr(options[field])), field=field
                    )
                if field in options:
                    options[field] = choices(options[field])
            for field in _DURATIONS & options.keys():
                if isinstance(options[field], str):
                    options[field] = seconds_of(options[field], field)
            if "roles" in options:
                options["roles"] = texts(options["roles"], "roles")
            for field in _EXCEPTIONS & options.keys():
                options[field] = exception_classes(options[field], field)
            for never in options.get("retry_on", ()):
                if issubclass(never, PermissionError | PermanentError):
                    raise InvalidInput(Rule("never_retried", exception=never.__name__), field="retry_on")
            options = check_kinds(_KINDS, options)
            if not 0 <= options.get("jitter", 0) <= 1:
                raise InvalidInput(Rule("task_jitter"), field="jitter")
        return _Given(**options, named=frozenset(given)) if given else cls()

    @property
    def chosen(self) -> dict[str, Any]:
        """The options that were set explicitly, even if to their defaults."""
        return {}

    def says(self, option: str) -> bool:
        return option in self.chosen

    def policy(self, retries: int | None = None) -> RetryPolicy:
        return _policy(self, self.retries if retries is None else retries)


class _Given(TaskOptions, frozen=True, kw_only=True):
    """Options that know which of them were given. Not a field of the class above, whose fields are the options."""

    named: frozenset[str]

    @property
    def chosen(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.named}


@lru_cache(maxsize=1024)
def _policy(options: TaskOptions, retries: int) -> RetryPolicy:
    """Cached: there are as many as tasks, and every job needs one."""
    return RetryPolicy(
        max_retries=retries,
        backoff=options.backoff,
        base_us=duration_us(options.retry_delay, "retry_delay"),
        jitter=float(options.jitter) + 0.0,  # 0, 0.0 and -0.0 are equal, and have different texts.
        on_lost=options.on_lost,
    )


_KINDS = kinds_of(TaskOptions)
_DURATIONS = {"timeout", "soft_timeout", "expires", "retry_delay"}
_EXCEPTIONS = {"retry_on", "no_retry_on"}


class Task(Generic[P, R_co]):
    """Registered logic. `task.call(…)` describes a job of it; `task(…)` calls its function here and now.

    A command or an HTTP call has a `spec` instead of a function, and runs only in a worker.
    """

    def __init__(self, name: str, body: Callable[..., Awaitable[R_co] | R_co] | Spec, options: TaskOptions) -> None:
        self.name = name
        self.options = options
        self.spec: Spec | None = None if inspect.isfunction(body) else cast(Spec, body)
        self.function: Callable[..., Any] = _runs_elsewhere if self.spec is not None else cast(Any, body)
        self.is_remote = getattr(self.spec, "work", body) is None
        """True if it has no body that could run in this process: only stream workers can do it."""
        self.is_async = inspect.iscoroutinefunction(self.function)
        self.executor = options.executor or self._default_executor()
        self.signature: Signature
        with defining(name):
            self.memory = None if options.memory is None else size_bytes(options.memory, "memory")
            if self.spec is not None:
                self.signature = self.spec.signature(name)
        self.retried = self._filter()
        self._check()
        if self.spec is None:
            self.signature = self._own_signature()

    def serves(self, role: str) -> bool:
        """Return true if it takes jobs of this role."""
        return not role or not self.options.roles or role in self.options.roles

    def check_role(self, role: str) -> None:
        if not self.serves(role):
            served = ", ".join(self.options.roles)
            raise InvalidInput(
                Rule("role_of_task", served=served, task=quoted(self.name), got=quoted(role)), field="role"
            )

    def _filter(self) -> ExceptionFilter | None:
        """Return what is to be known of an exception; None, as for most tasks, if nothing is."""
        chosen = {field: getattr(self.options, field) for field in sorted(_EXCEPTIONS)}
        for field, kinds in chosen.items():
            if kinds and self.spec is not None:
                with defining(self.name):
                    got = ", ".join(kind.__name__ for kind in kinds)
                    raise InvalidInput(Rule("exception_classes", option=field, got=got), field=field)
        if not any(chosen.values()):
            return None
        return ExceptionFilter(**{field: tuple(map(full_name, kinds)) for field, kinds in chosen.items()})

    def _own_signature(self) -> TaskSignature:
        name = self.name
        signature = TaskSignature(name, self.function, (Context, SyncContext))
        if self.is_async and signature.context_type is SyncContext:
            raise TaskDefinitionError(Rule("context_not_sync", task=repr(name)))
        if not self.is_async and signature.context_type is Context:
            raise TaskDefinitionError(Rule("context_not_async", task=repr(name)))
        return signature

    def _check(self) -> None:
        """Reject what would fail every job of this task, by the rules for its jobs."""
        if self.name == NO_HANDLER:
            raise TaskDefinitionError(Rule("no_task_name", name=repr(NO_HANDLER)), field="name")
        if inspect.isgeneratorfunction(self.function) or inspect.isasyncgenfunction(self.function):
            raise TaskDefinitionError(Rule("task_yields", task=repr(self.name)), field="task")
        kind, fitting = self._kind()
        if self.executor not in fitting:
            raise TaskDefinitionError(
                Rule(
                    "executor_not_fitting",
                    task=repr(self.name),
                    kind=kind,
                    executor=repr(self.executor),
                    fitting=fitting,
                ),
                field="executor",
            )
        if self.executor == PROCESS and "<" in self.function.__qualname__:
            raise TaskDefinitionError(
                Rule("function_not_found_again", task=repr(self.name), function=self.function.__qualname__),
                field="executor",
            )
        if self.memory is not None and self.executor not in (PROCESS, COMMAND):
            raise TaskDefinitionError(
                Rule("memory_of_process", task=repr(self.name)),
                field="memory",
            )
        with defining(self.name):
            self._check_soft_timeout()
            JobRequest(task=self, args="{}").to_new_job(ZoneInfo("UTC")).validate(max_payload_bytes=1_024)

    def _check_soft_timeout(self) -> None:
        soft, hard = self.options.soft_timeout, self.options.timeout
        if soft is None:
            return
        if self.spec is not None:
            raise InvalidInput(Rule("soft_timeout_of_function"), field="soft_timeout")
        if duration_us(soft, "soft_timeout") <= 0:
            raise InvalidInput(Rule("timeout_not_positive"), field="soft_timeout")
        if hard is not None and soft >= hard:
            raise InvalidInput(Rule("soft_timeout_below", timeout=f"{hard:g}", got=f"{soft:g}"), field="soft_timeout")

    def _kind(self) -> tuple[str, tuple[str, ...]]:
        """Return a description of the body and the executors that can run it."""
        if self.spec is not None:
            return f"{self.spec}", (self.spec.executor,)
        return ("async", (ASYNC,)) if self.is_async else ("a plain function", (THREAD, PROCESS))

    def _default_executor(self) -> str:
        if self.spec is not None:
            return self.spec.executor
        if self.is_async:
            return ASYNC
        options = self.options
        return THREAD if (options.timeout, options.soft_timeout, options.memory) == (None, None, None) else PROCESS

    def call(self, *args: P.args, **kwargs: P.kwargs) -> JobRequest[R_co]:
        """A job of this task with these arguments, checked now; enqueue it with the App."""
        return JobRequest(task=self, args=self.signature.pack(args, kwargs))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function here and now, as if it were no task; a context is an argument like any other."""
        return self.function(*args, **kwargs)

    if not TYPE_CHECKING:  # A type checker should go on rejecting unknown names.

        def __getattr__(self, name: str) -> NoReturn:
            """Answer names that other libraries give to what `call` and `enqueue` do."""
            remedy = _ELSEWHERE_CALLED.get(name)
            hint = "" if remedy is None else f"; write {remedy.format(task=vars(self).get('name', 'task'))}"
            raise AttributeError(f"a task has no {name!r}{hint}", name=name, obj=self)

    @property
    def where(self) -> str:
        """The place of its function, or what it runs."""
        return f"{self.function.__module__}.{self.function.__qualname__}" if self.spec is None else str(self.spec)

    def is_same(self, other: Task[..., Any]) -> bool:
        """Return True if both are one definition, perhaps registered twice."""
        return self.function is other.function and self.spec == other.spec

    def __repr__(self) -> str:
        return f"<Task {self.name}>"


_ENQUEUE = "await app.enqueue({task}.call(…)), or app.enqueue({task}.call(…)) of a SyncApp"
_ELSEWHERE_CALLED = {
    "apply_async": f"{_ENQUEUE}, with options like delay=60, run_at=… or priority=…",
    "apply": "{task}(…) to call the function here",
    "s": "{task}.call(…)",
    "si": "{task}.call(…)",
    **dict.fromkeys(
        ("delay", "defer", "defer_async", "enqueue", "kiq", "send", "send_with_options", "schedule"), _ENQUEUE
    ),
}


def _runs_elsewhere(*args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError("a command or an HTTP call is run by a worker; enqueue task.call(…)")


def registration_of(task: Task[Any, Any]) -> TaskSettings:
    """Return what is registered of a task: its settings, and the parameters that forms are made from."""
    return msgspec.structs.replace(settings_of(task.options), parameters=task.signature.schema())


def settings_of(options: TaskOptions) -> TaskSettings:
    """Return what an instance without the task needs to create executions of it."""
    return TaskSettings(
        queue=options.queue,
        role=options.role,
        priority=options.priority,
        timeout_us=None if options.timeout is None else duration_us(options.timeout, "timeout"),
        expires_us=None if options.expires is None else duration_us(options.expires, "expires"),
        policy=options.policy(),
    )
