"""Plans of job batches: ids assigned, references by key or id resolved, and jobs of the engine made from them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import msgspec

from hanbeon.domain.graph import find_cycle
from hanbeon.domain.job import NewJob, OnDependencyFailure, check_size, is_id
from hanbeon.domain.json_text import to_json_text
from hanbeon.errors import DependencyCycle, InvalidInput, UnknownDependency
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.surfaces.offices.resolve import Handlers, HowBy, session_of
from hanbeon.surfaces.offices.rows import OfficeRecord
from hanbeon.surfaces.offices.schemas import TITLE_BYTES, JobSpec
from hanbeon.surfaces.service import NewId, may_exist, random_id
from hanbeon.surfaces.validation import check_encodable, inside

_NAMES = ("key", "task_id", "role", "handler")


class JobMeta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Data that an office stores with a job: names for people, the job's own settings, and its request's digest."""

    key: str | None = None
    title: str | None = None
    timeout_ms: int | None = None
    max_retries: int | None = None
    asked: str = ""


class PlannedJob(NamedTuple):
    """A job with its id and its dependencies."""

    spec: JobSpec
    id: str
    depends_on: tuple[str, ...]
    digest: str
    """Distinguishes two requests with the same id."""
    may_exist: bool
    """The client chose the id, or the request may be a repeated one."""


_meta = msgspec.json.Decoder(JobMeta)


def meta_of(text: str | None) -> JobMeta:
    """The meta that was stored with a job; empty for a job that the surface did not create."""
    try:
        return _meta.decode(text or "{}")
    except msgspec.DecodeError:
        return JobMeta()


def plan(specs: Sequence[JobSpec], new_id: NewId = random_id) -> list[PlannedJob]:
    """Assign ids and resolve references; doubled keys and cycles are rejected by the client's own names."""
    _reject_doubles([spec.key for spec in specs], "key")
    _reject_doubles([spec.id for spec in specs], "id")
    repeatable = may_exist(new_id)
    ids = [spec.id or new_id(number) for number, spec in enumerate(specs)]
    by_key = {spec.key: job_id for spec, job_id in zip(specs, ids, strict=True) if spec.key is not None}
    planned = []
    for number, (spec, job_id) in enumerate(zip(specs, ids, strict=True)):
        with inside(f"jobs[{number}]"):
            _check(spec)
            waits_for = tuple(dict.fromkeys(_resolve(each, by_key) for each in spec.depends_on or ()))
            digest = _digest(spec, waits_for)
        planned.append(PlannedJob(spec, job_id, waits_for, digest, repeatable or spec.id is not None))
    cycle = find_cycle({each.id: each.depends_on for each in planned})
    if cycle is not None:
        labels = {each.id: each.spec.key or each.id for each in planned}
        raise DependencyCycle([labels[job_id] for job_id in cycle])
    return planned


def new_job(planned: PlannedJob, office: OfficeRecord, handlers: Handlers, how_by: HowBy) -> NewJob:
    """The job that is enqueued."""
    spec, role = planned.spec, planned.spec.role or ""
    if spec.handler is not None:
        handlers.check(spec.handler, role)
    name = _handler_of(spec, office)
    if name is not None:
        handlers.check_role(name, role)
    how = how_by(name, role, spec.timeout_ms, spec.max_retries)
    return NewJob(
        id=planned.id,
        task=how.task,
        args=arguments_of(planned, office, handlers),
        queue=office.queue,
        role=role,
        priority=spec.priority or 0,
        urgent=bool(spec.urgent),
        depends_on=planned.depends_on,
        on_dependency_failure=OnDependencyFailure(spec.on_dependency_failure or OnDependencyFailure.BLOCK),
        timeout_us=how.timeout_us,
        expires_us=how.expires_us,
        policy=how.policy,
        work_item=spec.task_id,
        meta=meta_text(planned),
    )


def kind_of(planned: PlannedJob) -> Hashable | None:
    """Return a key that is equal for jobs whose `new_job` differs only in id, arguments and meta; None for no other."""
    spec = planned.spec
    if planned.depends_on:
        return None
    return (
        *(spec.handler, spec.role, spec.timeout_ms, spec.max_retries, spec.priority, spec.urgent, spec.task_id),
        spec.on_dependency_failure,
    )


def arguments_of(planned: PlannedJob, office: OfficeRecord, handlers: Handlers) -> str:
    """The arguments as JSON; checked if the handler is known here, and otherwise by the worker that runs the job."""
    name, args = _handler_of(planned.spec, office), planned.spec.args or {}
    task = None if name is None else handlers.get(name)
    return to_json_text(args, "an argument", "args") if task is None else task.signature.pack((), args)


def meta_text(planned: PlannedJob) -> str:
    spec = planned.spec
    meta = JobMeta(
        key=spec.key,
        title=spec.title,
        timeout_ms=spec.timeout_ms,
        max_retries=spec.max_retries,
        asked=planned.digest,
    )
    return msgspec.json.encode(meta).decode()


def _handler_of(spec: JobSpec, office: OfficeRecord) -> str | None:
    return spec.handler or session_of(office.sessions, spec.role or "")


def _check(spec: JobSpec) -> None:
    """Rules that a schema cannot state: the size in bytes, and that arguments can be written as JSON."""
    if spec.title is not None:
        check_size("title", spec.title, TITLE_BYTES)
    to_json_text(spec.args, "an argument", "args")


def _resolve(name: str, by_key: dict[str, str]) -> str:
    """The id of a job of this batch, named by its key or id, or of an earlier job of the office, named by its id."""
    found = by_key.get(name, name)
    if not is_id(found):
        raise UnknownDependency(Rule("neither_key_nor_id", name=quoted(name)), [name])
    return found


def _reject_doubles(names: Sequence[str | None], field: str) -> None:
    double = [name for name, count in Counter(names).items() if name is not None and count > 1]
    if double:
        raise InvalidInput(Rule("different_in_batch", got=quoted(double[0])), field=f"jobs.{field}")


def _digest(spec: JobSpec, depends_on: tuple[str, ...]) -> str:
    try:
        body = msgspec.json.encode([msgspec.structs.replace(spec, id=None, depends_on=None), depends_on])
    except UnicodeEncodeError:
        for field in _NAMES:
            check_encodable(getattr(spec, field), field)
        raise
    return hashlib.blake2b(body, digest_size=12).hexdigest()
