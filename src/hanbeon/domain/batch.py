"""Batches of new jobs: possibly many jobs, but of few templates."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import overload

import msgspec

from hanbeon.domain.job import NewJob, OnConflict, check_keys, check_own

Keys = tuple[str | None, str | None, int | None]
"""The idempotency key, the unique key and the time of a job."""
NO_KEYS: Keys = (None, None, None)


class JobTemplate:
    """The fields that jobs of one kind share. A job's own are its id, arguments, meta, keys and time."""

    __slots__ = ("_hashing", "job", "lane")

    def __init__(self, job: NewJob) -> None:
        """`job`: any job of the kind."""
        self.job = _blank(job)
        self.lane = job.lane
        # The first job of a key decides what is there, whatever a later one asks for in a conflict.
        hashed = self.job
        if hashed.on_conflict is not OnConflict.REFUSE:
            hashed = msgspec.structs.replace(hashed, on_conflict=OnConflict.REFUSE)
        self._hashing = hashlib.blake2b(msgspec.json.encode(hashed), digest_size=12)

    def make(self, id: str, args: str, meta: str | None = None, keys: Keys = NO_KEYS) -> NewJob:
        """Return a job of this kind. Its own fields are not checked; see `check_own` and `check_keys`."""
        if keys is NO_KEYS:
            return msgspec.structs.replace(self.job, id=id, args=args, meta=meta)
        idempotency_key, unique_key, run_at_us = keys
        return msgspec.structs.replace(
            self.job,
            id=id,
            args=args,
            meta=meta,
            idempotency_key=idempotency_key,
            unique_key=unique_key,
            run_at_us=run_at_us,
        )

    def digest(self, args: str, meta: str | None, keys: Keys = NO_KEYS) -> str:
        """Return what tells bodies apart when an id or an idempotency key is reused. It excludes the id."""
        hashing = self._hashing.copy()
        # JSON, which ends itself: the arguments may begin like anything.
        hashing.update(msgspec.json.encode(meta if keys == NO_KEYS else (meta, *keys)) + args.encode())
        return hashing.hexdigest()


def keys_of(job: NewJob) -> Keys:
    return job.idempotency_key, job.unique_key, job.run_at_us


@lru_cache(maxsize=256)
def _template(blank: NewJob) -> JobTemplate:
    return JobTemplate(blank)


def template_of(job: NewJob) -> JobTemplate:
    """Return the template of a job, kept for the next ones of its kind."""
    return _template(_blank(job))


def digest_of(job: NewJob) -> str:
    """Return the digest of a job of its own; see `JobTemplate.digest`."""
    return JobTemplate(job).digest(job.args, job.meta, keys_of(job))


def _blank(job: NewJob) -> NewJob:
    """Return the job without what is its own."""
    return msgspec.structs.replace(
        job, id="", args="", meta=None, idempotency_key=None, unique_key=None, run_at_us=None
    )


class Batch(Sequence[NewJob]):
    """New jobs in order, each valid. Jobs of one template differ only in what is their own.

    The fields that they share are validated and encoded once per template, not once per job.
    """

    def __init__(self, max_payload_bytes: int) -> None:
        self._max_payload_bytes = max_payload_bytes
        self.templates: list[JobTemplate] = []
        self.ids: list[str] = []
        self.args: list[str] = []
        self.metas: list[str | None] = []
        self.numbers: list[int] = []
        """For each job, the index of its template."""
        self.keys: dict[int, Keys] = {}
        """By their places, the keys of the jobs that have any."""
        self._jobs: list[NewJob] | None = None

    def add(self, job: NewJob) -> int:
        """Add the first job of a template and return the number of that template."""
        job.validate(self._max_payload_bytes)
        self.templates.append(JobTemplate(job))
        self._add(len(self.templates) - 1, job.id, job.args, job.meta, keys_of(job))
        return len(self.templates) - 1

    def add_alike(self, number: int, job_id: str, args: str, meta: str | None = None, keys: Keys | None = None) -> None:
        """Add another job of a template. One with dependencies has only one job, so they are not checked."""
        check_own(job_id, args, meta, self._max_payload_bytes)
        if keys is None:
            self.ids.append(job_id)
            self.args.append(args)
            self.metas.append(meta)
            self.numbers.append(number)
        else:
            check_keys(keys[0], keys[1])
            self._add(number, job_id, args, meta, keys)

    def _add(self, number: int, job_id: str, args: str, meta: str | None, keys: Keys) -> None:
        if keys != NO_KEYS:
            self.keys[len(self.ids)] = keys
        self.ids.append(job_id)
        self.args.append(args)
        self.metas.append(meta)
        self.numbers.append(number)

    def digests(self) -> list[str]:
        """Return the digest of each job."""
        digests = [template.digest for template in self.templates]
        each = zip(self.numbers, self.args, self.metas, strict=True)
        if not self.keys:
            return [digests[number](args, meta) for number, args, meta in each]
        keys = [self.keys.get(place, NO_KEYS) for place in range(len(self))]
        return [digests[number](args, meta, own) for (number, args, meta), own in zip(each, keys, strict=True)]

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, place: int) -> NewJob: ...
    @overload
    def __getitem__(self, place: slice) -> list[NewJob]: ...
    def __getitem__(self, place: int | slice) -> NewJob | list[NewJob]:
        return self._all()[place]

    def __iter__(self) -> Iterator[NewJob]:
        return iter(self._all())

    def _all(self) -> list[NewJob]:
        if self._jobs is None:
            shared, replace = [each.job for each in self.templates], msgspec.structs.replace
            each = zip(self.numbers, self.ids, self.args, self.metas, strict=True)
            self._jobs = [replace(shared[number], id=id, args=args, meta=meta) for number, id, args, meta in each]
            for place, keys in self.keys.items():
                template = self.templates[self.numbers[place]]
                self._jobs[place] = template.make(self.ids[place], self.args[place], self.metas[place], keys)
        return self._jobs
