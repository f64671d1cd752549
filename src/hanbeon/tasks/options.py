"""Options of tasks and jobs: unknown names and values of the wrong type are rejected."""

from __future__ import annotations

import datetime as dt
import re
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from hanbeon.domain.job import LONGEST_US
from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted, suggested
from hanbeon.rule import Rule

Kinds = dict[str, tuple[type, ...]]
_WORDS = {
    bool: Rule("python_boolean"),
    int: Rule("integer"),
    float: Rule("number"),
    str: Rule("text"),
    tuple: Rule("tuple"),
    dt.datetime: Rule("datetime"),
    dt.timedelta: Rule("timedelta"),
    type(None): Rule("none"),
}
# Of the classes themselves, because a subclass may have others.
_CONVERT: dict[type, Callable[[Any], Any]] = {str: str.__str__, int: int.__int__, float: float.__float__}


def kinds_of(owner: type) -> Kinds:
    """Return the types that the fields of a class take, from its annotations."""
    return {name: _kinds(hint) for name, hint in typing.get_type_hints(owner).items()}


def _kinds(hint: Any) -> tuple[type, ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return tuple(kind for each in typing.get_args(hint) for kind in _kinds(each))
    return (typing.get_origin(hint) or hint,)


def check_kinds(kinds: Kinds, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values, those of subclasses as plain text and numbers; reject the first that its field does not take.

    Plain, because subclasses that are equal may be stored, hashed and encoded in different ways, or not at all.
    """
    for field, value in values.items():
        if not _fits(value, kinds[field]):
            fitting = [_WORDS.get(kind) or Rule("literal", value=kind.__name__) for kind in kinds[field]]
            rule = Rule("must_be", what=Rule("either", alternatives=fitting), got=quoted(value))
            raise InvalidInput(rule, field=field)
    return {field: value if type(value) in kinds[field] else _plain(value) for field, value in values.items()}


def _plain(value: Any) -> Any:
    for kind, convert in _CONVERT.items():
        if isinstance(value, kind) and not isinstance(value, bool):
            return convert(value)
    return value


def _fits(value: Any, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, bool):  # To Python it is an integer too; a priority of True is a mistake.
        return bool in kinds
    return isinstance(value, kinds) or (isinstance(value, int) and float in kinds)


def check_names(given: Iterable[str], known: Collection[str], owner: str) -> None:
    """Reject the first unknown name, suggesting the nearest known one."""
    for name in given:
        if name not in known:
            nearest, instead = _instead_of(name, frozenset(known))
            rule = Rule("no_such_option", owner=owner, instead=instead, nearest=nearest, known=sorted(known))
            raise InvalidInput(rule, field=name)


# Of Celery, RQ, Dramatiq, Huey, APScheduler and Procrastinate.
_CALLED_HERE = {
    **dict.fromkeys(("retry", "max_retries", "max_attempts", "num_retries"), "retries"),
    **dict.fromkeys(("default_retry_delay", "retry_wait", "min_backoff", "retry_interval"), "retry_delay"),
    **dict.fromkeys(("retry_backoff", "backoff_strategy"), "backoff"),
    "retry_jitter": "jitter",
    **dict.fromkeys(("autoretry_for", "retry_for", "retry_exceptions", "retry_when"), "retry_on"),
    **dict.fromkeys(("dont_autoretry_for", "throws"), "no_retry_on"),
    **dict.fromkeys(("time_limit", "job_timeout", "max_age_seconds"), "timeout"),
    "soft_time_limit": "soft_timeout",
    **dict.fromkeys(("queue_name", "routing_key", "exchange"), "queue"),
    **dict.fromkeys(("countdown", "enqueue_in"), "delay"),
    **dict.fromkeys(("eta", "scheduled_at", "at", "enqueue_at", "schedule_at"), "run_at"),
    **dict.fromkeys(("task_id", "job_id", "message_id"), "id"),
    **dict.fromkeys(("depends_on", "dependencies"), "after"),
    **dict.fromkeys(("queueing_lock", "unique"), "unique_key"),
    "lock": "concurrency_key",
    **dict.fromkeys(("ignore_result", "store_result", "store_results", "result_ttl"), "keep_result"),
    "ttl": "expires",
}
"""Names of options in other libraries, and those that do the same here."""
_INSTEAD = {
    **dict.fromkeys(("rate_limit", "rate_limits", "rate", "throttle"), "instead_of_rate_limit"),
    **dict.fromkeys(
        ("link", "link_error", "on_success", "on_failure", "callbacks", "errbacks"), "instead_of_callbacks"
    ),
    **dict.fromkeys(("countdown", "eta", "delay", "run_at", "at"), "instead_of_task_time"),
    **dict.fromkeys(("cron", "every", "interval", "crontab", "trigger", "periodic"), "instead_of_task_schedule"),
    **dict.fromkeys(("misfire_grace_time", "coalesce", "max_instances"), "instead_of_task_misfire"),
    **dict.fromkeys(("bind", "pass_context", "takes_context", "context"), "instead_of_bind"),
    **dict.fromkeys(("acks_late", "reject_on_worker_lost", "acks_on_failure_or_timeout"), "instead_of_acks_late"),
    **dict.fromkeys(("serializer", "compression"), "instead_of_serializer"),
    **dict.fromkeys(("unique", "queueing_lock", "unique_key", "lock", "concurrency_key"), "instead_of_task_key"),
}
"""Rules that say what to write for options of other libraries that are no option here, or not of this owner."""
_OF_WORK = ("queue", "max_concurrent")
"""Of these, tasks and jobs have the first, and queues the second."""


def _instead_of(name: str, known: frozenset[str]) -> tuple[str | None, Rule | None]:
    """Return the nearest known option as an error quotes it, or what to write instead; perhaps neither."""
    here = _CALLED_HERE.get(name)
    if here in known:
        return quoted(here), None
    if name in _INSTEAD and not known.isdisjoint(_OF_WORK):
        return None, Rule(_INSTEAD[name])
    return suggested(name, known), None


def texts(value: Any, field: str) -> tuple[str, ...]:
    """Check a list of strings and return it as a tuple."""
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return tuple(value)
    raise InvalidInput(Rule("must_be", what=Rule("string_list"), got=quoted(value)), field=field)


def exception_classes(value: Any, field: str) -> tuple[type[BaseException], ...]:
    """Check one class of exceptions or several, and return them as a tuple."""
    found = (value,) if isinstance(value, type) else tuple(value) if isinstance(value, list | tuple | set) else ()
    if not found or not all(isinstance(each, type) and issubclass(each, BaseException) for each in found):
        raise InvalidInput(Rule("exception_classes", option=field, got=quoted(value)), field=field)
    return found


def named_texts(value: Any, field: str) -> dict[str, str]:
    """Check a table of strings by name. The values may be secret, so errors show only names."""
    if not isinstance(value, Mapping):
        raise InvalidInput(Rule("must_be", what=Rule("string_table")), field=field)
    for name, it in value.items():
        if not isinstance(name, str) or not isinstance(it, str):
            raise InvalidInput(Rule("must_be", what=Rule("string")), field=f"{field}.{name}")
    return dict(value)


def types_by_name(value: Any, field: str) -> Mapping[str, Any]:
    """Check the table that declares a task's parameters."""
    if not isinstance(value, Mapping):
        raise InvalidInput(Rule("must_be", what=Rule("type_table")), field=field)
    return value


def switch(value: Any, field: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(Rule("must_be", what=Rule("boolean"), got=quoted(value)), field=field)
    return value


def one_of(value: Any, choices: Collection[str], field: str) -> str:
    if value in choices:
        return str(value)
    raise InvalidInput(Rule("must_be", what=Rule("one_of", choices=choices), got=quoted(value)), field=field)


def duration_us(duration: float | dt.timedelta, field: str) -> int:
    """Convert a duration to microseconds; NaN and more than a hundred years are rejected."""
    if isinstance(duration, dt.timedelta):
        return duration // dt.timedelta(microseconds=1)
    if not abs(duration) * 1_000_000 <= LONGEST_US:  # Also refuses NaN.
        raise InvalidInput(Rule("must_be", what=Rule("hundred_years_of_seconds"), got=duration), field=field)
    return round(duration * 1_000_000)


_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([kMGT]?)(i?)B", re.IGNORECASE)
_SMALLEST = 64 * 1024**2


def size_bytes(size: int | str, field: str) -> int:
    """Parse a size in bytes, or as text with a unit: "512MB" or "512MiB"."""
    if isinstance(size, str):
        match = _SIZE.fullmatch(size.strip())
        if match is None:
            raise InvalidInput(Rule("must_be", what=Rule("byte_size"), got=quoted(size)), field=field)
        number, prefix, binary = match.groups()
        size = int(float(number) * (1024 if binary else 1000) ** " KMGT".index(prefix.upper() or " "))
    if not _SMALLEST <= size < 2**63:
        raise InvalidInput(Rule("memory_limit", got=size), field=field)
    return size
