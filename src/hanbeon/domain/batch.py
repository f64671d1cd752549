"""Batches of new jobs: possibly many jobs, but of few templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import msgspec

from hanbeon.domain.job import NewJob, check_keys, check_own
from hanbeon.domain.job_template import NO_KEYS, JobTemplate, Keys, keys_of


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
