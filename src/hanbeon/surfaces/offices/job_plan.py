"""Jobs as a client asks for them: read, referred to each other by key or id, and turned into jobs for the engine."""

from __future__ import annotations

import hashlib
import reprlib
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import uuid_utils

from hanbeon.domain.graph import find_cycle
from hanbeon.domain.job import (
    LONGEST_US,
    PRIORITY_MAX,
    PRIORITY_MIN,
    RETRIES_MAX,
    NewJob,
    OnDependencyFailure,
    check_size,
    is_id,
)
from hanbeon.errors import DependencyCycle, InvalidInput, UnknownDependency
from hanbeon.store.operations.offices import OfficeRecord
from hanbeon.surfaces.offices.resolve import Handlers, HowBy, session_of
from hanbeon.surfaces.offices.specs import JobSpec
from hanbeon.surfaces.validation import inside, items, table, text, whole
from hanbeon.tasks.options import check_kinds, kinds_of, one_of
from hanbeon.tasks.signature import to_json_text

BATCH_MOST = 10_000
TITLE_BYTES = 4_000
_NAMES = ("key", "task_id", "role", "handler")


class JobMeta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an office keeps with a job: names for people, what the job said itself, and which request made it."""

    key: str | None = None
    title: str | None = None
    timeout_ms: int | None = None
    max_retries: int | None = None
    asked: str = ""


class PlannedJob(NamedTuple):
    """A job with its id and those that it waits for; `asked` tells two requests with the same id apart."""

    spec: JobSpec
    id: str
    depends_on: tuple[str, ...]
    asked: str


_KINDS = kinds_of(JobSpec)
_meta = msgspec.json.Decoder(JobMeta)


def meta_of(text: str | None) -> JobMeta:
    """What was kept; of a job that the surface did not make, nothing."""
    try:
        return _meta.decode(text or "{}")
    except msgspec.DecodeError:
        return JobMeta()


def read_specs(told: Any) -> list[JobSpec]:
    """The batch, each job sound by itself."""
    specs = []
    for number, each in enumerate(items(told, "jobs", BATCH_MOST)):
        with inside(f"jobs[{number}]"):
            specs.append(_spec(each))
    return specs


def _spec(told: Any) -> JobSpec:
    values = table(told, "a job", JobSpec.__struct_fields__)
    check_kinds(_KINDS, values)
    spec = JobSpec(**values)
    for field in _NAMES:
        if getattr(spec, field) is not None:
            text(getattr(spec, field), field, required=field != "role")
    if spec.id is not None and not is_id(spec.id):
        raise InvalidInput(f"{reprlib.repr(spec.id)} is not a UUID in lower-case text form", field="id")
    if spec.title is not None:
        check_size("title", spec.title, TITLE_BYTES)
    for field, low, high in (
        ("priority", PRIORITY_MIN, PRIORITY_MAX),
        ("timeout_ms", 1, LONGEST_US // 1_000),
        ("max_retries", 0, RETRIES_MAX),
    ):
        if getattr(spec, field) is not None:
            whole(getattr(spec, field), field, low, high)
    to_json_text(spec.args, "an argument", "args")  # Before anything is made of them, a digest first.
    if spec.on_dependency_failure is not None:
        one_of(spec.on_dependency_failure, list(OnDependencyFailure), "on_dependency_failure")
    for each in spec.depends_on or ():
        if not isinstance(each, str):
            raise InvalidInput(f"{reprlib.repr(each)} does not fit; use a key or an id", field="depends_on")
    return spec


def plan(specs: Sequence[JobSpec]) -> list[PlannedJob]:
    """Ids for all, references resolved; doubled keys and cycles are refused in the client's own words."""
    _refuse_doubles([spec.key for spec in specs], "key")
    _refuse_doubles([spec.id for spec in specs], "id")
    ids = [spec.id or str(uuid_utils.uuid7()) for spec in specs]
    by_key = {spec.key: job_id for spec, job_id in zip(specs, ids, strict=True) if spec.key is not None}
    planned = []
    for number, (spec, job_id) in enumerate(zip(specs, ids, strict=True)):
        with inside(f"jobs[{number}]"):
            waits_for = tuple(dict.fromkeys(_referred(each, by_key) for each in spec.depends_on or ()))
        planned.append(PlannedJob(spec, job_id, waits_for, _digest(spec, waits_for)))
    cycle = find_cycle({each.id: each.depends_on for each in planned})
    if cycle is not None:
        labels = {each.id: each.spec.key or each.id for each in planned}
        raise DependencyCycle([labels[job_id] for job_id in cycle])
    return planned


def new_job(planned: PlannedJob, office: OfficeRecord, handlers: Handlers, how_by: HowBy) -> NewJob:
    """The job that the engine is asked for."""
    spec, role = planned.spec, planned.spec.role or ""
    if spec.handler is not None:
        handlers.check(spec.handler, role)
    name = spec.handler or session_of(office.sessions, role)
    if name is not None:
        handlers.check_role(name, role)
    how = how_by(name, role, spec.timeout_ms, spec.max_retries)
    meta = JobMeta(
        key=spec.key,
        title=spec.title,
        timeout_ms=spec.timeout_ms,
        max_retries=spec.max_retries,
        asked=planned.asked,
    )
    return NewJob(
        id=planned.id,
        task=how.task,
        args=_arguments(spec, handlers, name),
        queue=office.queue,
        role=role,
        priority=spec.priority or 0,
        urgent=bool(spec.urgent),
        depends_on=planned.depends_on,
        on_dependency_failure=OnDependencyFailure(spec.on_dependency_failure or OnDependencyFailure.BLOCK),
        timeout_us=how.timeout_us,
        policy=how.policy,
        work_item=spec.task_id,
        meta=msgspec.json.encode(meta).decode(),
    )


def _arguments(spec: JobSpec, handlers: Handlers, name: str | None) -> str:
    """As JSON; checked where the handler is known here, and otherwise by the worker that runs it."""
    task = None if name is None else handlers.get(name)
    args = spec.args or {}
    return to_json_text(args, "an argument", "args") if task is None else task.signature.pack((), args)


def _referred(name: str, by_key: dict[str, str]) -> str:
    """A job of this batch by its key or id, or one of the office from before by its id."""
    found = by_key.get(name, name)
    if not is_id(found):
        raise UnknownDependency(f"{reprlib.repr(name)} is neither a key of this batch nor the id of a job", [name])
    return found


def _refuse_doubles(names: Sequence[str | None], field: str) -> None:
    double = [name for name, count in Counter(names).items() if name is not None and count > 1]
    if double:
        raise InvalidInput(f"{double[0]!r} comes twice in this batch; each job needs its own", field=f"jobs.{field}")


def _digest(spec: JobSpec, depends_on: tuple[str, ...]) -> str:
    body = msgspec.json.encode([msgspec.structs.replace(spec, id=None, depends_on=None), depends_on])
    return hashlib.blake2b(body, digest_size=12).hexdigest()
