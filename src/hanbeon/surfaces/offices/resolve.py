"""Who runs a job, for how long and how often: asked of the job, then of its handler, then of its office."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

from hanbeon.domain.job import NO_HANDLER
from hanbeon.domain.retry import RetryPolicy
from hanbeon.errors import InvalidInput, UnknownTask
from hanbeon.store.operations.offices import Handling, OfficeRecord
from hanbeon.surfaces.offices.body import DEFAULT_SESSION
from hanbeon.surfaces.offices.config import in_force, timeout_ms
from hanbeon.tasks.options import did_you_mean, duration_us
from hanbeon.tasks.registry import Registry
from hanbeon.tasks.task import Task, TaskOptions

_SILENT = TaskOptions()

HowBy = Callable[[str | None, str, int | None, int | None], Handling]
"""How a job is to be run: by the task of this name, in this role, with a timeout and retries of its own."""


class Handlers:
    """The tasks there are: those of this App, with all that is said of them, and those that live instances name."""

    def __init__(self, here: Registry, elsewhere: Collection[str]) -> None:
        self._here = {task.name: task for task in here}
        self._names = {*self._here, *elsewhere} - {NO_HANDLER}

    def get(self, name: str) -> Task[..., Any] | None:
        """What this App knows of a task; None if it knows nothing."""
        return self._here.get(name)

    def check(self, name: str, role: str) -> None:
        """Refuse a task that nobody has, and one that does not serve the role."""
        if name not in self._names:
            hint = did_you_mean(name, self._names) or "; register it, or start a worker that has it"
            raise UnknownTask(f"no task {name[:80]!r} is registered{hint}", field="handler")
        self.check_role(name, role)

    def serves(self, name: str, role: str) -> bool:
        """Whether a task takes jobs of this role, as far as this App knows."""
        task = self.get(name)
        return task is None or not role or not task.options.roles or role in task.options.roles

    def check_role(self, name: str, role: str) -> None:
        if not self.serves(name, role):
            served = ", ".join(self._here[name].options.roles)
            raise InvalidInput(f"task {name!r} serves {served}, not {role!r}; use another handler", field="role")


def session_of(sessions: Mapping[str, str], role: str) -> str | None:
    """The task that an office has named for a role."""
    by_role = sessions.get(role) if role else None
    return by_role or sessions.get(DEFAULT_SESSION)


def handling(
    office: OfficeRecord,
    handlers: Handlers,
    name: str | None,
    role: str,
    *,
    own_timeout_ms: int | None,
    own_retries: int | None,
) -> Handling:
    """How a job is to be run by the task of this name, or for now by none."""
    task = None if name is None else handlers.get(name)
    options = _SILENT if task is None else task.options
    config = in_force(office.config)
    if own_timeout_ms is not None:
        timeout_us = own_timeout_ms * 1_000
    elif options.timeout is not None:
        timeout_us = duration_us(options.timeout, "timeout")
    else:
        timeout_us = timeout_ms(office.config, role) * 1_000
    retries = options.retries if options.says("retries") else config.maxRetries
    base_us = duration_us(options.retry_delay, "retry_delay")
    policy = RetryPolicy(
        max_retries=retries if own_retries is None else own_retries,
        backoff=options.backoff if options.says("backoff") else config.retryBackoff,
        base_us=base_us if options.says("retry_delay") else config.retryBaseDelay * 1_000,
        jitter=options.jitter,
        on_lost=options.on_lost,
    )
    return Handling(NO_HANDLER if name is None else name, timeout_us, policy)


def remembering(office: OfficeRecord, handlers: Handlers) -> HowBy:
    """The same for many jobs of one office, worked out once for those that are alike."""

    @cache
    def how_by(name: str | None, role: str, own_timeout_ms: int | None, own_retries: int | None) -> Handling:
        return handling(office, handlers, name, role, own_timeout_ms=own_timeout_ms, own_retries=own_retries)

    return how_by
