"""A template makes the jobs that were asked for, with the digests that they have alone."""

from typing import Any

import msgspec
import pytest

from hanbeon.domain.batch import Batch, digest_of, keys_of, template_of
from hanbeon.domain.job import NewJob, OnConflict
from hanbeon.errors import InvalidInput
from tests.store.world import new_id

OWN: list[dict[str, Any]] = [
    {},
    {"args": '{"n":1}', "meta": '{"title":"☃"}'},
    {"idempotency_key": "i", "unique_key": "u"},
    {"unique_key": "u", "run_at_us": 7},
    {"idempotency_key": "i", "args": "[null,null,null]"},
]
KIND = NewJob(id=new_id(), task="t", queue="q", priority=3, on_conflict=OnConflict.SKIP)
JOBS = [msgspec.structs.replace(KIND, id=new_id(), **own) for own in OWN]


def test_batch_gives_back_its_jobs_and_their_digests() -> None:
    batch = Batch(1_000)
    first, *others = JOBS
    number = batch.add(first)
    for job in others:
        batch.add_alike(number, job.id, job.args, job.meta, keys_of(job))
    assert list(batch) == JOBS
    assert batch.digests() == [digest_of(job) for job in JOBS]
    assert len(batch.templates) == 1


def test_digests_of_different_jobs_differ() -> None:
    assert len({digest_of(job) for job in JOBS}) == len(JOBS)
    assert digest_of(msgspec.structs.replace(KIND, id=new_id(), on_conflict=OnConflict.REFUSE)) == digest_of(KIND)


def test_template_is_shared_by_jobs_of_one_kind() -> None:
    assert len({template_of(job) for job in JOBS}) == 1
    assert template_of(msgspec.structs.replace(KIND, priority=4)) is not template_of(KIND)
    assert [template_of(job).make(job.id, job.args, job.meta, keys_of(job)) for job in JOBS] == JOBS


def test_keys_of_later_jobs_are_checked() -> None:
    batch = Batch(1_000)
    number = batch.add(KIND)
    with pytest.raises(InvalidInput, match="must be at most 200 characters"):
        batch.add_alike(number, new_id(), "{}", None, ("k" * 201, None, None))
