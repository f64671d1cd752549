"""A job to be is checked before anything is written."""

from typing import Any

import msgspec
import pytest

from hanbeon.domain.batch import digest_of
from hanbeon.domain.job import (
    LAST_INSTANT_US,
    LONGEST_US,
    NAME_LIMIT,
    PRIORITY_MAX,
    PRIORITY_MIN,
    RETRIES_MAX,
    NewJob,
    OnConflict,
    OnDependencyFailure,
    is_id,
)
from hanbeon.domain.retry import RetryPolicy
from hanbeon.errors import InvalidInput, PayloadTooLarge

ID, OTHER = "018f4e5c-0000-7000-8000-000000000001", "018f4e5c-0000-7000-8000-000000000002"
LIMIT = 100
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("id", {"id": "1"}),
    ("id", {"id": ID.upper().replace("0", "A")}),
    ("id", {"id": ID + "\n"}),
    ("task", {"task": ""}),
    ("task", {"task": "x" * (NAME_LIMIT + 1)}),
    ("queue", {"queue": ""}),
    ("role", {"role": "a\x00b"}),
    ("concurrency_key", {"concurrency_key": "x" * (NAME_LIMIT + 1)}),
    ("idempotency_key", {"idempotency_key": "\ud800"}),
    ("unique_key", {"unique_key": "\x00"}),
    ("work_item", {"work_item": "x" * (NAME_LIMIT + 1)}),
    ("priority", {"priority": PRIORITY_MAX + 1}),
    ("priority", {"priority": PRIORITY_MIN - 1}),
    ("delay", {"delay_us": -1}),
    ("delay", {"delay_us": LONGEST_US + 1}),
    ("run_at", {"run_at_us": LAST_INSTANT_US + 1}),
    ("run_at", {"run_at_us": -(2**62)}),
    ("timeout", {"timeout_us": 0}),
    ("timeout", {"timeout_us": LONGEST_US + 1}),
    ("retries", {"policy": RetryPolicy(max_retries=-1)}),
    ("retries", {"policy": RetryPolicy(max_retries=RETRIES_MAX + 1)}),
    ("retry_delay", {"policy": RetryPolicy(base_us=-1)}),
    ("retry_delay", {"policy": RetryPolicy(base_us=LONGEST_US + 1)}),
    ("retry_jitter", {"policy": RetryPolicy(jitter=-0.1)}),
    ("retry_jitter", {"policy": RetryPolicy(jitter=float("nan"))}),
    ("depends_on", {"depends_on": (OTHER, ID)}),
    ("args", {"args": "\x00"}),
    ("meta", {"meta": "\udcff"}),
]
ACCEPTED: list[dict[str, Any]] = [
    {},
    {"task": "한".ljust(NAME_LIMIT, "번")},
    {"priority": PRIORITY_MAX},
    {"priority": PRIORITY_MIN},
    {"delay_us": 0},
    {"delay_us": LONGEST_US},
    {"run_at_us": 0},
    {"run_at_us": LAST_INSTANT_US},
    {"timeout_us": 1},
    {"policy": RetryPolicy(max_retries=0, base_us=0, jitter=1.0)},
    {"depends_on": (OTHER,)},
    {"args": "x" * LIMIT},
]


@pytest.mark.parametrize("given", ACCEPTED, ids=repr)
def test_validate_accepts_valid_jobs(given: dict[str, Any]) -> None:
    NewJob(**({"id": ID, "task": "t"} | given)).validate(LIMIT)


@pytest.mark.parametrize(("field", "given"), REFUSED, ids=lambda value: repr(value)[:40])
def test_the_field_that_does_not_fit_is_named(field: str, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        NewJob(**({"id": ID, "task": "t"} | given)).validate(LIMIT)
    assert refused.value.field == field


@pytest.mark.parametrize("field", ["args", "meta"])
def test_payloads_are_measured_in_bytes(field: str) -> None:
    with pytest.raises(PayloadTooLarge, match="got 102"):
        NewJob(**{"id": ID, "task": "t", field: "한" * 34}).validate(LIMIT)  # type: ignore[arg-type]


def test_digest_ignores_id_and_conflict_policy() -> None:
    job = NewJob(id=ID, task="t")
    same = msgspec.structs.replace(job, id=OTHER, on_conflict=OnConflict.SKIP)
    assert digest_of(job) == digest_of(same)
    others: list[dict[str, Any]] = [
        {"task": "u"},
        {"args": "[]"},
        {"queue": "q"},
        {"role": "r"},
        {"concurrency_key": "k"},
        {"priority": 1},
        {"urgent": True},
        {"delay_us": 1},
        {"run_at_us": 1},
        {"depends_on": (OTHER,)},
        {"on_dependency_failure": OnDependencyFailure.FAIL},
        {"idempotency_key": "i"},
        {"unique_key": "u"},
        {"timeout_us": 1},
        {"policy": RetryPolicy(max_retries=9)},
        {"work_item": "w"},
        {"meta": "m"},
    ]
    digests = [digest_of(msgspec.structs.replace(job, **other)) for other in others]
    assert len({digest_of(job), *digests}) == 1 + len(others)


@pytest.mark.parametrize("text", [None, 7, "", "018f4e5c00007000800000000000000A", "{" + ID + "}"])
def test_one_form_of_id_is_known(text: object) -> None:
    assert is_id(ID)
    assert not is_id(text)
