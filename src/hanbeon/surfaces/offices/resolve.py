"""Handler, timeout and retries of a job: its own settings come first, then the handler's, then the office's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

from hanbeon.domain.job import NO_HANDLER
from hanbeon.domain.retry import RetryPolicy
from hanbeon.errors import InvalidInput, UnknownTask
from hanbeon.quotation import quoted, suggested
from hanbeon.rule import Rule
from hanbeon.surfaces.offices.config import in_force, timeout_ms
from hanbeon.surfaces.offices.rows import Handling, OfficeRecord
from hanbeon.tasks.options import duration_us
from hanbeon.tasks.registry import Registry
from hanbeon.tasks.task import Task, TaskOptions

DEFAULT_SESSION = "default"
_SILENT = TaskOptions()

HowBy = Callable[[str | None, str, int | None, int | None], Handling]
"""The way a job is run: the name of its task, its role, its timeout and its retries."""


class Handlers:
    """The known tasks: those of this App with their options, and the names of those that live instances have."""

    def __init__(self, here: Registry, elsewhere: Collection[str]) -> None:
        self._here = {task.name: task for task in here}
        self._names = {*self._here, *elsewhere} - {NO_HANDLER}

    def get(self, name: str) -> Task[..., Any] | None:
        """A task of this App; None if it has none of that name."""
        return self._here.get(name)

    def check(self, name: str, role: str, field: str | None = None) -> None:
        """Reject a task that no instance has, and one that does not serve the role."""
        if name not in self._names:
            rule = Rule("handler_not_registered", task=quoted(name), nearest=suggested(name, self._names))
            raise UnknownTask(rule, field=field or "handler")
        self.check_role(name, role, field)

    def serves(self, name: str, role: str) -> bool:
        """Return true if a task takes jobs of this role, as far as this App knows."""
        task = self.get(name)
        return task is None or task.serves(role)

    def check_role(self, name: str, role: str, field: str | None = None) -> None:
        if not self.serves(name, role):
            served = ", ".join(self._here[name].options.roles)
            raise InvalidInput(
                Rule("role_not_served", task=quoted(name), served=served, role=quoted(role)), field=field or "role"
            )


def session_of(sessions: Mapping[str, str], role: str) -> str | None:
    """The task that an office has named for a role."""
    by_role = sessions.get(role) if role else None
    return by_role or sessions.get(DEFAULT_SESSION)


def merged_sessions(before: Mapping[str, str], changes: Mapping[str, str | None], handlers: Handlers) -> dict[str, str]:
    """The sessions after a change: null removes a role's, those that it does not name stay."""
    after = dict(before)
    for role, task in changes.items():
        if task is None:
            after.pop(role, None)
        else:
            handlers.check(task, "" if role == DEFAULT_SESSION else role, f"sessions.{role}")
            after[role] = task
    return after


def handling(
    office: OfficeRecord,
    handlers: Handlers,
    name: str | None,
    role: str,
    *,
    own_timeout_ms: int | None,
    own_retries: int | None,
) -> Handling:
    """Return how a job is run by the task of this name, or by none for now."""
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
    expires_us = None if options.expires is None else duration_us(options.expires, "expires")
    return Handling(NO_HANDLER if name is None else name, timeout_us, policy, expires_us)


def remembering(office: OfficeRecord, handlers: Handlers) -> HowBy:
    """Like `handling`, cached for the many jobs of a batch that are alike."""

    @cache
    def how_by(name: str | None, role: str, own_timeout_ms: int | None, own_retries: int | None) -> Handling:
        return handling(office, handlers, name, role, own_timeout_ms=own_timeout_ms, own_retries=own_retries)

    return how_by
