"""Rows that surfaces keep beside the engine's, as parts of retention: they go with their jobs, or by their own age."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import msgspec

from hanbeon.store.tx import Tx

Delete = Callable[[Tx, int, int], Awaitable[int]]
"""`(tx, older_than_us, limit) → number of deleted rows`: a small part at a time."""
Count = Callable[[Tx, int], Awaitable[int]]
"""`(tx, older_than_us) → number of rows` that `Delete` would find if it were repeated until nothing is left."""


class AgedRows(msgspec.Struct, frozen=True):
    """Rows that are deleted by their own age. `count`: shown by `hanbeon prune`."""

    kind: str
    """Their name in metrics, and in the output of `hanbeon prune`."""
    delete: Delete
    count: Count | None = None


class Retention(NamedTuple):
    """The part of one surface."""

    of_jobs: Sequence[str] = ()
    """Statements that delete the rows of jobs, which are given by their seqs as JSON and are deleted next."""
    aged: Sequence[AgedRows] = ()


def deletes(statement: str) -> Delete:
    """By one statement, given the age and the limit, which returns a row for each that it deleted."""

    async def delete(tx: Tx, older_than_us: int, limit: int) -> int:
        return len(await tx.fetch(statement, older_than_us, limit))

    return delete


def counts(statement: str) -> Count:
    """By one statement, given the age, which returns the number as `rows`."""

    async def count(tx: Tx, older_than_us: int) -> int:
        return int((await tx.fetch(statement, older_than_us))[0]["rows"])

    return count
