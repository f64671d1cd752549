"""Requests of offices: types and bounds, the same over HTTP and from Python, and errors that name field and rule."""

import json
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, get_args

import msgspec
import pytest

from hanbeon.domain.job import OnDependencyFailure
from hanbeon.domain.lifecycle import STATES, UNFINISHED
from hanbeon.errors import InvalidInput
from hanbeon.surfaces.offices import schemas
from hanbeon.surfaces.offices.vocabulary import PHASE, JobStatus
from hanbeon.surfaces.validation import decode, given_fields, validate

URL = "https://example.org/hook"
SECRET = "whsec_" + "s3cret" * 6
ID = "00000000-0000-7000-8000-000000000000"
LONG = "x" * 201
_AFTER_10_000 = {"depends_on": ["a"] * 10_000}

Case = tuple[type[msgspec.Struct], dict[str, Any], str, str]


def _job(job: Any, field: str, rule: str) -> Case:
    place = f"jobs[1].{field}" if field else "jobs[1]"
    return schemas.JobBatch, {"jobs": [{}, job]}, place, rule


def _config(change: dict[str, Any], field: str, rule: str) -> list[Case]:
    """Alone, and as a part of a new office."""
    return [
        (schemas.ConfigChange, change, field, rule),
        (schemas.OfficeBody, {"name": "x", "config": change}, f"config.{field}", rule),
    ]


def _hook(hook: Any, field: str, rule: str) -> list[Case]:
    place = f"webhooks[0].{field}" if field else "webhooks[0]"
    return [
        (schemas.OfficeBody, {"name": "x", "webhooks": [hook]}, place, rule),
        (schemas.OfficeChange, {"webhooks": [hook]}, place, rule),
    ]


def _limit(kind: type[msgspec.Struct], most: int) -> list[Case]:
    rule = f"must be an integer from 1 to {most}"
    return [(kind, {"limit": wrong}, "limit", rule) for wrong in (0, most + 1, True, "10", None, 1.5)]


BAD: list[Case] = [
    (schemas.OfficeBody, {}, "name", "is required; it must be a string of 1 to 200 characters without NUL"),
    (schemas.OfficeBody, {"name": ""}, "name", "must be a string of 1 to 200 characters without NUL, got ''"),
    (schemas.OfficeBody, {"name": None}, "name", "must be a string of 1 to 200 characters without NUL, got null"),
    (schemas.OfficeBody, {"name": LONG}, "name", "must be a string of 1 to 200 characters"),
    (schemas.OfficeBody, {"name": "x\x00"}, "name", "must be a string of 1 to 200 characters without NUL"),
    (schemas.OfficeBody, {"name": "x", "nmae": "y"}, "nmae", "unknown field; did you mean 'name'?"),
    (schemas.OfficeBody, {"name": "x", "config": []}, "config", "must be an object, got []"),
    (schemas.OfficeBody, {"name": "x", "sessions": ["work"]}, "sessions", "must be an object, got ['work']"),
    (schemas.OfficeBody, {"name": "x", "sessions": {"FE": 5}}, "sessions.FE", "must be a string of 1 to 200"),
    (schemas.OfficeBody, {"name": "x", "sessions": {"": "work"}}, "sessions", "each name must be a string of 1 to 200"),
    (schemas.OfficeBody, {"name": "x", "notifications": "mailto://x:s3cret@y"}, "notifications", "must be an array"),
    (schemas.OfficeBody, {"name": "x", "notifications": ["s3cret"]}, "notifications[0]", "must be an address like"),
    (
        schemas.OfficeBody,
        {"name": "x", "notifications": ["json://a", 5]},
        "notifications[1]",
        "must be an address like",
    ),
    (schemas.OfficeBody, {"name": "x", "notifications": [None]}, "notifications[0]", "must be an address like"),
    (schemas.OfficeBody, {"name": "x", "notifications": ["://x"]}, "notifications[0]", "must be an address like"),
    (schemas.OfficeBody, {"name": "x", "notifications": ["mailto:"]}, "notifications[0]", "must be an address like"),
    (schemas.OfficeBody, {"name": "x", "notifications": ["json://a"] * 51}, "notifications", "at most 50 items"),
    (schemas.OfficeBody, {"name": "x", "webhooks": {"secret": "s3cret"}}, "webhooks", "must be an array"),
    (schemas.OfficeBody, {"name": "x", "webhooks": [{"url": URL, "secret": SECRET}] * 51}, "webhooks", "at most 50"),
    (schemas.OfficeBody, {"name": "x", "webhooks": [{"secret": SECRET}]}, "webhooks[0].url", "is required; it must be"),
    (schemas.OfficeBody, {"name": "x", "webhooks": [{"url": URL}]}, "webhooks[0].secret", "is required; it must be"),
    (
        schemas.OfficeBody,
        {"name": "x", "webhooks": [{"id": ID, "url": URL, "secret": SECRET}]},
        "webhooks[0].id",
        "unknown field",
    ),
    (schemas.OfficeChange, {"config": None}, "config", "must be an object"),
    (schemas.OfficeChange, {"config": {"maxRetires": 1}}, "config.maxRetires", "did you mean 'maxRetries'?"),
    (schemas.OfficeChange, {"name": None}, "name", "must be a string of 1 to 200 characters"),
    (schemas.OfficeChange, {"webhooks": [{"url": None}]}, "webhooks[0].url", "must be an address like https://"),
    (schemas.OfficeDeletion, {"cancel": "yes"}, "cancel", "must be true or false, got 'yes'"),
    (schemas.OfficeQuery, {"cursor": "x"}, "cursor", "must be the next_cursor of a page, got 'x'"),
    (schemas.OfficeQuery, {"cursor": ""}, "cursor", "must be the next_cursor of a page"),
    (schemas.OfficeQuery, {"cursor": ID + "\n"}, "cursor", "must be the next_cursor of a page"),
    (schemas.OfficeQuery, {"cursor": "' --"}, "cursor", "must be the next_cursor of a page"),
    *_limit(schemas.OfficeQuery, 1_000),
    *_hook({"url": 5, "secret": SECRET}, "url", "must be an address like https://example.org/hook"),
    *_hook({"url": "https://s3cret/" + "x" * 2_000, "secret": SECRET}, "url", "must be an address like"),
    *_hook({"url": URL, "secret": 5}, "secret", "must be a text of 1 to 200 characters"),
    *_hook({"url": URL, "secret": ""}, "secret", "must be a text of 1 to 200 characters"),
    *_hook({"url": URL, "secret": "s3cret\0s3cret"}, "secret", "without NUL"),
    *_hook({"url": URL, "secret": "x" * 300}, "secret", "must be a text of 1 to 200 characters"),
    *_hook({"url": URL, "secret": SECRET, "events": "job_failed"}, "events", "must be an array"),
    *_hook({"url": URL, "secret": SECRET, "events": ["job_fialed"]}, "events[0]", "did you mean 'job_failed'?"),
    *_hook({"url": URL, "secret": SECRET, "event": ["job_failed"]}, "event", "unknown field; did you mean 'events'?"),
    *_hook("https://s3cret.example.org", "", "must be an object"),
    *_config({"maxConcurrentJobs": 0}, "maxConcurrentJobs", "must be an integer from 1 to 2147483647, got 0"),
    *_config({"maxConcurrentJobs": 2**31}, "maxConcurrentJobs", "must be an integer from 1 to 2147483647"),
    *_config({"maxConcurrentJobs": True}, "maxConcurrentJobs", "must be an integer from 1 to 2147483647, got true"),
    *_config({"maxConcurrentJobs": 1.5}, "maxConcurrentJobs", "must be an integer from 1 to 2147483647, got 1.5"),
    (schemas.ConfigChange, {"maxConcurrentJobs": None}, "maxConcurrentJobs", "must be an integer from 1 to"),
    *_config({"maxConcurrentJobs": "3"}, "maxConcurrentJobs", "must be an integer from 1 to 2147483647, got '3'"),
    (schemas.ConfigChange, {"maxConcurrentByRole": None}, "maxConcurrentByRole", "must be an object, got null"),
    *_config({"maxConcurrentByRole": [1]}, "maxConcurrentByRole", "must be an object, got [1]"),
    *_config({"maxConcurrentByRole": {"FE": 0}}, "maxConcurrentByRole.FE", "must be an integer from 1 to"),
    *_config({"maxConcurrentByRole": {"": 1}}, "maxConcurrentByRole", "each name must be a string of 1 to 200"),
    *_config({"maxConcurrentByRole": {LONG: 1}}, "maxConcurrentByRole", "each name must be a string of 1 to 200"),
    *_config({"maxConcurrentByRole": {"a\x00b": 1}}, "maxConcurrentByRole", "characters without NUL"),
    *_config(
        {"maxConcurrentByRole": dict.fromkeys(map(str, range(1_001)), 1)},
        *("maxConcurrentByRole", "must be an object of at most 1,000 entries, got 1001"),
    ),
    *_config({"defaultTimeout": 0}, "defaultTimeout", "must be an integer from 1 to"),
    *_config({"defaultTimeout": 10**18}, "defaultTimeout", "must be an integer from 1 to"),
    *_config({"maxRetries": -1}, "maxRetries", "must be an integer from 0 to"),
    *_config({"retryBaseDelay": -1}, "retryBaseDelay", "must be an integer from 0 to"),
    *_config({"retryBackoff": "quadratic"}, "retryBackoff", "must be one of exponential, linear, got 'quadratic'"),
    *_config({"retryBackoff": ["linear"]}, "retryBackoff", "must be one of exponential, linear"),
    *_config({"maxConcurentJobs": 5}, "maxConcurentJobs", "unknown field; did you mean 'maxConcurrentJobs'?"),
    (schemas.JobBatch, {}, "jobs", "is required; it must be an array of 1 to 10,000 items"),
    (schemas.JobBatch, {"jobs": {}}, "jobs", "must be an array, got {}"),
    (schemas.JobBatch, {"jobs": None}, "jobs", "must be an array, got null"),
    (schemas.JobBatch, {"jobs": [{}], "more": 1}, "more", "unknown field"),
    (schemas.JobBatch, {"jobs": []}, "jobs", "must be an array of 1 to 10,000 items, got 0"),
    (schemas.JobBatch, {"jobs": [{}] * 10_001}, "jobs", "must be an array of 1 to 10,000 items, got 10001"),
    (schemas.JobBatch, {"jobs": [_AFTER_10_000] * 21}, "jobs", "at most 200,000 dependencies in all, got 210,000"),
    _job({"depends_on": ["a"] * 10_001}, "depends_on", "must name at most 10,000 jobs, got 10,001"),
    _job({"depends_on": [LONG]}, "depends_on[0]", "must be a string of 1 to 200 characters"),
    _job("job", "", "must be an object, got 'job'"),
    _job(None, "", "must be an object, got null"),
    _job({"prio": 5}, "prio", "unknown field; did you mean 'priority'?"),
    _job({"depends_on": "a"}, "depends_on", "must be an array, got 'a'"),
    _job({"depends_on": ["a", 5]}, "depends_on[1]", "must be a string of 1 to 200 characters without NUL, got 5"),
    _job({"priority": 2**31}, "priority", "must be an integer from -2147483648 to 2147483647, got 2147483648"),
    _job({"priority": "1"}, "priority", "must be an integer from -2147483648 to 2147483647, got '1'"),
    _job({"priority": True}, "priority", "must be an integer from -2147483648 to 2147483647, got true"),
    _job({"urgent": 1}, "urgent", "must be true or false, got 1"),
    _job({"timeout_ms": 0}, "timeout_ms", "must be an integer from 1 to"),
    _job({"timeout_ms": 10**17}, "timeout_ms", "must be an integer from 1 to"),
    _job({"max_retries": -1}, "max_retries", "must be an integer from 0 to"),
    _job({"id": "X"}, "id", "must be a UUID in lower-case text form, got 'X'"),
    _job({"id": ID + "\n"}, "id", "must be a UUID in lower-case text form"),
    _job({"key": ""}, "key", "must be a string of 1 to 200 characters without NUL, got ''"),
    _job({"key": "k\x00"}, "key", "must be a string of 1 to 200 characters without NUL"),
    _job({"role": "r" * 201}, "role", "must be a string of at most 200 characters without NUL"),
    _job({"task_id": 7}, "task_id", "must be a string of 1 to 200 characters without NUL, got 7"),
    _job({"title": "t" * 5_000}, "title", "must be a string of at most 4,000 bytes without NUL, got 5,000 characters"),
    _job({"args": []}, "args", "must be an object, got []"),
    _job({"handler": ""}, "handler", "must be a string of 1 to 200 characters without NUL"),
    _job({"on_dependency_failure": "explode"}, "on_dependency_failure", "must be one of block, fail, got 'explode'"),
    (schemas.JobQuery, {"status": ["running"]}, "status[0]", "must be one of pending, ready, processing"),
    (schemas.JobQuery, {"status": ["procesing"]}, "status[0]", "did you mean 'processing'?"),
    (schemas.JobQuery, {"role": "\x00"}, "role", "must be a string of at most 200 characters without NUL"),
    (schemas.JobQuery, {"task_id": "x" * 999}, "task_id", "must be a string of at most 200 characters without NUL"),
    (schemas.JobQuery, {"cursor": "x"}, "cursor", "must be the next_cursor of a page, got 'x'"),
    (schemas.JobQuery, {"cursor": "1" * 19}, "cursor", "must be the next_cursor of a page"),
    *_limit(schemas.JobQuery, 1_000),
    *_limit(schemas.GraphQuery, 1_000),
    *_limit(schemas.DeliveryQuery, 1_000),
    *_limit(schemas.LogQuery, 10_000),
    (schemas.LogQuery, {"attempt": 0}, "attempt", "must be an integer from 1 to"),
    (schemas.LogQuery, {"after": "x"}, "after", "must be the `after` of a page, got 'x'"),
    (schemas.CancelAll, {"statuses": ["done"]}, "statuses[0]", "must be one of pending, processing, ready, timeout"),
    (schemas.CancelAll, {"statuses": "ready"}, "statuses", "must be an array, got 'ready'"),
    (schemas.CancelAll, {"status": ["ready"]}, "status", "unknown field; did you mean 'statuses'?"),
    (schemas.CancelAll, {"role": 5}, "role", "must be a string of at most 200 characters without NUL, got 5"),
    (schemas.Priority, {"priority": "1"}, "priority", "must be an integer from"),
    (schemas.Priority, {"priority": 2**31}, "priority", "must be an integer from"),
    (schemas.Priority, {"urgent": 1}, "urgent", "must be true or false, got 1"),
    (schemas.Priority, {"prio": 1}, "prio", "unknown field; did you mean 'priority'?"),
]


@pytest.mark.parametrize(("kind", "body", "field", "rule"), BAD)
def test_rejects_invalid_fields(kind: type[msgspec.Struct], body: dict[str, Any], field: str, rule: str) -> None:
    for check in (partial(decode, json.dumps(body).encode(), kind), partial(validate, kind, body)):
        with pytest.raises(InvalidInput) as rejected:
            check()
        assert (rejected.value.field, rule in str(rejected.value)) == (field, True), str(rejected.value)
        assert "s3cret" not in str(rejected.value)


@pytest.mark.parametrize("body", [b"[]", b"null", b'"x"', b"3"])
def test_rejects_bodies_that_are_no_objects(body: bytes) -> None:
    for kind in (schemas.OfficeBody, schemas.ConfigChange, schemas.JobBatch, schemas.CancelAll, schemas.Priority):
        with pytest.raises(InvalidInput, match="must be an object") as rejected:
            decode(body, kind)
        assert rejected.value.field is None


@pytest.mark.parametrize(
    ("kind", "body", "field"),
    [
        (schemas.OfficeBody, {"name": "\ud800"}, "name"),
        (schemas.OfficeBody, {"name": "x", "sessions": {"FE": "\ud800"}}, "sessions.FE"),
        (schemas.OfficeBody, {"name": "x", "sessions": {"\ud800": "work"}}, "sessions"),
        (schemas.ConfigChange, {"maxConcurrentByRole": {"\ud800": 1}}, "maxConcurrentByRole"),
        (schemas.JobQuery, {"role": "\ud800"}, "role"),
    ],
)
def test_rejects_surrogates_from_python(kind: type[msgspec.Struct], body: dict[str, Any], field: str) -> None:
    """JSON cannot hold them."""
    with pytest.raises(InvalidInput, match="half of a surrogate pair") as rejected:
        validate(kind, body)
    assert rejected.value.field == field


@pytest.mark.parametrize(
    ("field", "structs"),
    [
        ("jobs[1].priority", {"jobs": [schemas.JobSpec(), schemas.JobSpec(priority=2**31)]}),
        ("jobs[0].on_dependency_failure", {"jobs": [schemas.JobSpec(on_dependency_failure="explode")]}),  # type: ignore[arg-type]
    ],
)
def test_rejects_structs_made_by_hand(field: str, structs: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as rejected:
        validate(schemas.JobBatch, structs)
    assert rejected.value.field == field
    with pytest.raises(InvalidInput) as rejected:
        validate(schemas.OfficeBody, {"name": "x", "config": schemas.ConfigChange(maxRetries=-1)})
    assert rejected.value.field == "config.maxRetries"


@pytest.mark.parametrize("job", [schemas.JobSpec(key="a"), {"key": "a"}, MappingProxyType({"key": "a"})])
def test_jobs_are_structs_or_mappings(job: schemas.JobSpec | Mapping[str, Any]) -> None:
    for jobs in ([job], (job,)):
        assert validate(schemas.JobBatch, {"jobs": jobs}).jobs == [schemas.JobSpec(key="a")]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (schemas.ConfigChange, {"maxRetries": 0, "retryBaseDelay": 0, "defaultTimeout": 1, "maxConcurrentJobs": 1}),
        (schemas.ConfigChange, {"maxConcurrentByRole": {"FE": None, "x" * 200: 2**31 - 1}}),
        (schemas.OfficeBody, {"name": "x", "config": None, "sessions": None, "notifications": None, "webhooks": None}),
        (schemas.OfficeChange, {"webhooks": [{"id": None, "secret": None, "events": None}]}),
        (schemas.OfficeChange, {"sessions": {"FE": None}}),
        (schemas.JobBatch, {"jobs": [{}] * 10_000}),
        (schemas.JobBatch, {"jobs": [_AFTER_10_000] * 20}),
        (schemas.ConfigChange, {"maxConcurrentByRole": dict.fromkeys(map(str, range(1_000)), 1)}),
        (schemas.JobBatch, {"jobs": [dict.fromkeys(schemas.JobSpec.__struct_fields__)]}),
        (schemas.JobBatch, {"jobs": [{"priority": -(2**31), "timeout_ms": 1, "max_retries": 0, "role": ""}]}),
        (schemas.CancelAll, {"task_id": None, "statuses": None, "role": None}),
        (schemas.CancelAll, {"statuses": []}),
        (schemas.Priority, {"priority": None, "urgent": None}),
    ],
)
def test_accepts_bounds_and_null(kind: type[msgspec.Struct], body: dict[str, Any]) -> None:
    request = decode(json.dumps(body).encode(), kind)
    assert request == validate(kind, body)
    if kind is not schemas.JobBatch:
        assert msgspec.to_builtins(given_fields(request)) == body


def test_literals_are_those_of_the_domain() -> None:
    unfinished = {status for status in JobStatus if STATES[PHASE[status]] in UNFINISHED}
    assert set(get_args(schemas.Unfinished)) == unfinished
    assert get_args(schemas.OnDependencyFailure) == tuple(OnDependencyFailure)
    assert schemas.ConfigChange.__struct_fields__ == schemas.JobSchedulerConfig.__struct_fields__
