"""The fast path for many jobs on PostgreSQL: rows are streamed by COPY and encoded while the server writes.

It takes jobs that wait for nothing and have no keys. COPY costs the server half of an INSERT that checks for conflicts.
If there is one, an id that already exists, it fails as a whole, and the general path handles the conflict.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from hanbeon.domain.batch import NO_KEYS, Batch, JobTemplate, Keys, keys_of, template_of
from hanbeon.domain.events import Event, event_factory, moved
from hanbeon.domain.job import NewJob, rank_of
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.store.job_columns import NEW, new_values
from hanbeon.store.operations.enqueue import Enqueued, Make, enqueue
from hanbeon.store.operations.events import write_alike
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.traces import write_traces
from hanbeon.store.records import policy_text
from hanbeon.store.tx import Copy, Tx, in_parts, ready_hint

WORTH_IT = 50
"""For fewer rows, a statement has fewer round trips."""
NULL = r"\N"
# Small enough that the server gets its first lines soon, large enough that a part is worth its overhead.
LINES_AT_ONCE = 250
_ESCAPED = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def escaped(text: str) -> str:
    return text if "\\" not in text and text.isprintable() else text.translate(_ESCAPED)


def text_of(values: Iterable[Any]) -> str:
    """Return the columns of a line."""
    return "\t".join([NULL if value is None else escaped(str(value)) for value in values])


async def copy_rows(copy: Copy, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows, in this order. They are taken as they are needed, while the server writes those before them."""
    await copy(table, columns, _lines(iter(rows)))


async def _lines(rows: Iterator[Sequence[Any]]) -> AsyncIterator[bytes]:
    while part := list(islice(rows, LINES_AT_ONCE)):
        texts = [_texts(column) for column in zip(*part, strict=True)]
        yield ("\n".join(map("\t".join, zip(*texts, strict=True))) + "\n").encode()


def _texts(column: Sequence[Any]) -> list[str]:
    """Column by column: one that has nothing to escape is found without looking at each value."""
    if nulls := column.count(None):
        if nulls == len(column):
            return [NULL] * nulls
        return [NULL if value is None else escaped(str(value)) for value in column]
    texts = list(map(str, column))
    return texts if escaped(whole := "".join(texts)) is whole else list(map(escaped, texts))


# Keeps each statement below the statement timeout.
_JOBS_AT_ONCE = 5_000
_OWN = ("id", "args", "digest", "meta")
_KEYS = ("idempotency_key", "unique_key", "run_at")
# The columns that jobs of one template share; those in which a line differs from others are around them.
_SHARED = ("state", "rank", "run_at", "created_at", *(each.name for each in NEW if each.name not in _OWN))


def in_bulk(jobs: Sequence[NewJob]) -> Make | None:
    """Return the operation that creates these jobs by the fast path; None if they need the general one.

    It must be passed a cache that knows their lanes. In a transaction without COPY it takes the general path.
    """
    if (
        not isinstance(jobs, Batch)
        or len(jobs) < WORTH_IT
        or jobs.keys
        or any(each.job.waits or each.job.expires for each in jobs.templates)
    ):
        return None
    if len(set(jobs.ids)) < len(jobs):
        return None
    batch = jobs

    async def make(tx: Tx, lanes: LaneCache) -> list[Enqueued]:
        return await (enqueue(tx, lanes, batch) if tx.copy is None else _make(tx, tx.copy, lanes, batch))

    return make


class _Template(NamedTuple):
    """The shared parts of the lines of a template."""

    between: str
    """The columns between a job's id and its arguments."""
    digest: Callable[[str, str | None, Keys], str]


async def _make(tx: Tx, copy: Copy, lanes: LaneCache, batch: Batch) -> list[Enqueued]:
    templates = batch.templates
    for number, args, meta in zip(batch.numbers, batch.args, batch.metas, strict=True):
        lanes.check_payload(templates[number].job.task, args, meta)
    row = (await tx.fetch("number_jobs", len(batch)))[0]
    now, seqs = row["now"], row["seqs"]
    # In id order, not in batch order: two batches that share ids would wait for each other, and deadlock.
    ordered = sorted(zip(batch.ids, seqs, batch.numbers, batch.args, batch.metas, strict=True))
    columns, parts = _shared(templates, lanes, now)
    for part in in_parts(ordered, _JOBS_AT_ONCE):
        await copy("job_id", ("id", "seq"), _ids(part))
        await copy("job", ("seq", "id", *columns, "args", "digest", "meta"), _bulk_lines(part, parts))
    await write_alike(tx, [_event(each.job, now) for each in templates], batch.numbers, batch.ids)
    tx.wake(ready_hint(each.job.task for each in templates), "event")
    made = [Enqueued(job_id, State.READY, True, seq, now) for job_id, seq in zip(batch.ids, seqs, strict=True)]
    if tx.tracing is not None:
        await write_traces(tx, made)
    return made


async def copy_jobs(tx: Tx, copy: Copy, lanes: LaneCache, jobs: Sequence[NewJob]) -> list[Enqueued] | None:
    """Create jobs that may have keys; see `FastSteps`."""
    (numbers,) = await tx.fetch("number_jobs", len(jobs))
    now, seqs = numbers["now"], numbers["seqs"]
    if any(job.depends_on or job.delay_us or (job.run_at_us or 0) > now or job.expires for job in jobs):
        return None
    for job in jobs:
        lanes.check_payload(job.task, job.args, job.meta)
    templates: dict[JobTemplate, int] = {}
    lines = []
    for job, seq in zip(jobs, seqs, strict=True):
        number = templates.setdefault(template_of(job), len(templates))
        lines.append((job.id, seq, number, job.args, job.meta, keys_of(job)))
    columns, parts = _shared(list(templates), lanes, now, without=_KEYS)
    # In a fixed order, as `insert_jobs` does: two batches that share some would wait for each other, and deadlock.
    await copy("job_id", ("id", "seq"), _ids(sorted(lines)))
    ordered = sorted(lines, key=_by_keys)
    await copy("job", ("seq", "id", *columns, "args", "digest", "meta", *_KEYS), _bulk_lines(ordered, parts, now))
    build = event_factory(Reason.ENQUEUED, State.READY)
    tx.emit(*[build(now, job.queue, job.id, job.task) for job in jobs])
    tx.wake(ready_hint(job.task for job in jobs))
    made = [Enqueued(job.id, State.READY, True, seq, now) for job, seq in zip(jobs, seqs, strict=True)]
    if tx.tracing is not None:
        await write_traces(tx, made)
    return made


async def _ids(jobs: Sequence[Sequence[Any]]) -> AsyncIterator[bytes]:
    yield "".join([f"{job_id}\t{seq}\n" for job_id, seq, *_ in jobs]).encode()


async def _bulk_lines(
    jobs: Sequence[Sequence[Any]], templates: Sequence[_Template], now: int | None = None
) -> AsyncIterator[bytes]:
    """Encode jobs; `now`: they have keys, and those without a time of their own get this one."""
    for part in in_parts(jobs, LINES_AT_ONCE):
        lines = []
        for job_id, seq, number, args, meta, *keys in part:
            between, digest = templates[number]
            own, hashed, last = NULL if meta is None else escaped(meta), NO_KEYS, ""
            if now is not None:
                hashed = keys[0]
                last = "\t" + text_of((*hashed[:2], now if hashed[2] is None else hashed[2]))
            lines.append(f"{seq}\t{job_id}{between}{escaped(args)}\t{digest(args, meta, hashed)}\t{own}{last}\n")
        yield "".join(lines).encode()


def _by_keys(line: Sequence[Any]) -> tuple[str, str]:
    idempotency_key, unique_key, _ = line[-1]
    return unique_key or "", idempotency_key or ""


def _shared(
    templates: Sequence[JobTemplate], lanes: LaneCache, now: int, without: Collection[str] = ()
) -> tuple[list[str], list[_Template]]:
    """Return the columns that jobs share, and their texts for each template. NULL is the default of a column."""
    values = [_values(each.job, lanes, now) for each in templates]
    columns = [name for name in _SHARED if name not in without and any(each[name] is not None for each in values)]
    texts = ["\t" + text_of([each[name] for name in columns]) + "\t" for each in values]
    return columns, [_Template(text, each.digest) for text, each in zip(texts, templates, strict=True)]


def _values(job: NewJob, lanes: LaneCache, now: int) -> dict[str, Any]:
    names = [each.name for each in NEW]
    given = dict(zip(names, new_values(job, lanes.lane_of(job), policy_text(job.policy), ""), strict=True))
    rank = rank_of(job.urgent, job.priority)
    return given | {"state": State.READY, "rank": rank, "run_at": now, "created_at": now}


def _event(job: NewJob, now: int) -> Event:
    return moved(Reason.ENQUEUED, at=now, queue=job.queue, job_id=job.id, task=job.task, state=State.READY)
