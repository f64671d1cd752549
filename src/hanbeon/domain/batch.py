"""Batches of new jobs: possibly many jobs, but of few kinds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import msgspec

from hanbeon.domain.job import NewJob, check_own


class Batch(Sequence[NewJob]):
    """New jobs in order, each valid. Jobs of one kind differ only in their ids, arguments and meta.

    The fields that a kind shares are validated and encoded once per kind, not once per job.
    """

    def __init__(self, max_payload_bytes: int) -> None:
        self._max_payload_bytes = max_payload_bytes
        self.kinds: list[NewJob] = []
        """One job of each kind."""
        self.ids: list[str] = []
        self.args: list[str] = []
        self.metas: list[str | None] = []
        self.numbers: list[int] = []
        """For each job, the index of its kind in `kinds`."""
        self._jobs: list[NewJob] | None = None

    def add(self, job: NewJob) -> int:
        """Add the first job of a kind and return the number of that kind."""
        job.validate(self._max_payload_bytes)
        self.kinds.append(job)
        self.ids.append(job.id)
        self.args.append(job.args)
        self.metas.append(job.meta)
        self.numbers.append(len(self.kinds) - 1)
        return self.numbers[-1]

    def add_alike(self, number: int, job_id: str, args: str, meta: str | None = None) -> None:
        """Add another job of a kind. Self-dependency is not checked: a kind with dependencies has only one job."""
        check_own(job_id, args, meta, self._max_payload_bytes)
        self.ids.append(job_id)
        self.args.append(args)
        self.metas.append(meta)
        self.numbers.append(number)

    def digests(self) -> list[str]:
        """Return the digest of each job."""
        kinds = [kind.digests() for kind in self.kinds]
        each = zip(self.numbers, self.args, self.metas, strict=True)
        return [kinds[number](args, meta) for number, args, meta in each]

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
            kinds, replace = self.kinds, msgspec.structs.replace
            each = zip(self.numbers, self.ids, self.args, self.metas, strict=True)
            self._jobs = [replace(kinds[number], id=id, args=args, meta=meta) for number, id, args, meta in each]
        return self._jobs
