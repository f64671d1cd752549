"""Jobs that are alike but for their ids, arguments and keys: what they share is checked, hashed and encoded once."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import msgspec

from hanbeon.domain.job import NewJob, OnConflict

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
