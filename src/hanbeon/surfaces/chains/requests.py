"""Requests of chains as the rows to write, with defaults filled in."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hanbeon.clock import micros
from hanbeon.domain.job import check_size
from hanbeon.domain.json_text import to_json_text
from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted, suggested
from hanbeon.rule import Rule
from hanbeon.surfaces.chains import schemas
from hanbeon.surfaces.chains.errors import LibraryNotAllowed
from hanbeon.surfaces.chains.job import ChainJob
from hanbeon.surfaces.chains.library import operation_names
from hanbeon.surfaces.chains.rows import NewChainJob
from hanbeon.surfaces.chains.steps import context_limit, value_limit
from hanbeon.surfaces.chains.vocabulary import EMPTY_ARGS, EXPIRED_SECONDS, NO_OPERATION, UNINIT
from hanbeon.surfaces.validation import given_fields


def fields_of(job: Any) -> Any:
    """The fields of a job that Python code passes, as an object or as a mapping."""
    return job.fields() if isinstance(job, ChainJob) else job


class JobPlan:
    """Makes jobs for a chain; `allowed` are the libraries of this installation."""

    def __init__(self, allowed: Collection[str], max_payload_bytes: int) -> None:
        self._allowed, self._max_payload_bytes = allowed, max_payload_bytes

    def library(self, name: str, field: str) -> str:
        """Return the name if chains may import it."""
        if name != UNINIT and name not in self._allowed:
            rule = Rule("library_not_allowed", got=repr(name[:80]), nearest=suggested(name, self._allowed))
            raise LibraryNotAllowed(rule, field=field)
        return name

    def job(self, request: schemas.NewChainJob, uid: str, queue_library: str) -> NewChainJob:
        """Return the row of a job; without a library of its own it takes that of the chain."""
        given = given_fields(request)
        own = self.library(given.get("operation_library", UNINIT), "operation_library")
        # In a list: they are stored one level deeper than they are sent.
        arguments = to_json_text([given.get("arguments", EMPTY_ARGS)], "arguments", "arguments")[1:-1]
        check_size("arguments", arguments, value_limit(self._max_payload_bytes))
        return NewChainJob(
            uid=uid,
            forward_operation=_operation(given, "forward_operation"),
            backward_operation=_operation(given, "backward_operation"),
            arguments=arguments,
            operation_library=queue_library if own == UNINIT else own,
            expired_us=max(1, micros(given.get("expired_time", EXPIRED_SECONDS))),
        )

    async def check_operations(self, jobs: Sequence[NewChainJob], prefix: str = "jobs[{}].") -> None:
        """Reject operations that a library lacks. One that cannot be imported here is left to the run."""
        needed: dict[str, set[str]] = {}
        for job in jobs:
            needed.setdefault(job.operation_library, set()).update((job.forward_operation, job.backward_operation))
        names = {library: await operation_names(library, operations) for library, operations in needed.items()}
        for number, job in enumerate(jobs):
            known = names[job.operation_library]
            for field in ("forward_operation", "backward_operation"):
                name = getattr(job, field)
                if known is not None and name != NO_OPERATION and name not in known:
                    library, near = job.operation_library, suggested(name, known)
                    rule = Rule("not_a_function_of", library=library, got=quoted(name), nearest=near)
                    raise InvalidInput(rule, field=prefix.format(number) + field)

    def context(self, context: Mapping[str, Any]) -> str:
        text = to_json_text([context], "context", "context")[1:-1]
        check_size("context", text, context_limit(self._max_payload_bytes))
        return text


def _operation(given: Mapping[str, Any], field: str) -> str:
    name: str = given.get(field, NO_OPERATION)
    if not name.isidentifier():  # A pattern lets a line end at the end pass.
        raise InvalidInput(Rule("must_be", what=Rule("function_name"), got=quoted(name)), field=field)
    return name


def check_jobs(jobs: Any) -> Any:
    """Jobs that Python code passes, as mappings; anything else is left to validation."""
    return [fields_of(job) for job in jobs] if isinstance(jobs, list | tuple) else jobs
