"""A job that is enqueued alone and one of a batch: built on two paths, and equal in everything that is stored."""

from __future__ import annotations

import datetime as dt
import enum
from typing import Any

import msgspec
import pytest
import uuid_utils
from hypothesis import given
from hypothesis import strategies as st

import tests.properties  # noqa: F401 - how property tests run
from hanbeon import App
from hanbeon.domain import batch
from hanbeon.domain.batch import digest_of
from hanbeon.domain.job import NewJob
from hanbeon.errors import HanbeonError
from hanbeon.settings import Settings
from hanbeon.store import records
from hanbeon.store.fast.single import single_values
from hanbeon.store.records import policy_text
from hanbeon.tasks import build, task
from hanbeon.tasks.build import new_job, new_jobs
from hanbeon.tasks.request import JobRequest


class Text(str):
    __slots__ = ()


class Count(int):
    pass


class Share(float):
    pass


class Word(enum.StrEnum):
    A = "a"


class Number(enum.IntEnum):
    ONE = 1


class _Lanes:
    """A number for every lane."""

    def lane_of(self, job: object) -> int:
        return 1


_ID = str(uuid_utils.uuid7())
_TEXTS = st.sampled_from(["", "a", Text("a"), Word.A, "b", Text(""), "\x00", "\ud800", "x" * 300, "가"])
_NUMBERS = st.sampled_from(
    [0, 1, -1, 0.0, -0.0, 1.0, True, False, Count(1), Share(1.0), Share(-0.0), Number.ONE, 2**31, 2**63, 1e-9, 1e300]
)
_SPANS = st.one_of(_NUMBERS, st.sampled_from([float("nan"), float("inf"), dt.timedelta(seconds=1), dt.timedelta(-1)]))
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "id": st.sampled_from(
        ["", "x", str(uuid_utils.uuid7()), str(uuid_utils.uuid7()).upper(), Text(uuid_utils.uuid7())]
    ),
    "queue": _TEXTS,
    "role": _TEXTS,
    "concurrency_key": _TEXTS,
    "priority": _NUMBERS,
    "urgent": st.sampled_from([True, False, 1, 0, Number.ONE]),
    "delay": _SPANS,
    "timeout": _SPANS,
    "retries": _NUMBERS,
    "idempotency_key": _TEXTS,
    "unique_key": _TEXTS,
    "work_item": _TEXTS,
    "on_conflict": st.sampled_from(["refuse", "skip", Text("skip"), "replace_pending", "never"]),
    "on_dependency_failure": st.sampled_from(["block", "fail", Text("fail"), "never"]),
}
_OPTIONS = st.fixed_dictionaries({}, optional=_VALUES)
_TASKS = st.fixed_dictionaries(
    {}, optional={"jitter": st.sampled_from([0, 0.0, -0.0, 1, 1.0, Share(1.0), Count(1)]), "retries": _NUMBERS}
)
_ARGUMENTS = st.sampled_from([1, True, 1.0, 0.0, -0.0, None, "a", Text("a"), [1], {"a": 1}, 2**60, 2**70, "x" * 2_000])


def _stored(job: NewJob) -> tuple[Any, ...]:
    """Return all that a store writes of it, as bytes where equal things may be written differently."""
    columns = single_values(job, _Lanes())  # type: ignore[arg-type]
    return (msgspec.json.encode(job), digest_of(job), repr(columns), policy_text(job.policy))


def _freshly(job: NewJob) -> tuple[Any, ...]:
    """Compute the same without any cache."""
    _, _, columns, _ = _stored(job)
    return (msgspec.json.encode(job), digest_of(job), columns, msgspec.json.encode(job.policy).decode())


def _outcome(build: Any) -> Any:
    try:
        return _stored(build())
    except HanbeonError as error:
        return type(error), str(error), error.code


@given(_TASKS, _OPTIONS, _ARGUMENTS)
def test_both_paths_build_the_same_job(declared: dict[str, Any], options: dict[str, Any], argument: Any) -> None:
    app = App()
    settings = Settings(max_payload_bytes=1_024)
    try:
        work = app.task(name="work", **declared)(_work)
        request = work.call(argument).set(**{"id": str(uuid_utils.uuid7()), **options})
    except HanbeonError:
        return
    alone = _outcome(lambda: new_job(app.tasks, settings, request))
    again = _outcome(lambda: new_job(app.tasks, settings, request))
    batch = _outcome(lambda: new_jobs(app.tasks, settings, [request])[0])
    assert alone == again == batch
    if isinstance(alone[0], bytes):
        job = new_job(app.tasks, settings, request)
        assert _freshly(job) == alone
        assert msgspec.json.decode(alone[0], type=NewJob) == job


async def _work(value: Any) -> None:
    return None


@pytest.mark.parametrize("first", [1, 1.0, 0, -0.0], ids=repr)
def test_digest_does_not_depend_on_earlier_jobs(first: float) -> None:
    """Options that are equal and written differently are one policy, also in a process that has seen neither."""
    digests = set()
    for jitter in (first, float(first), first + 0.0):
        for cached in (build._template, task._policy, batch._template, records.policy_text):
            cached.cache_clear()
        app = App()
        work = app.task(name=f"w{abs(first)}", jitter=jitter)(_work)
        job = new_job(app.tasks, Settings(), JobRequest(task=work, args="{}"))
        digests.add((digest_of(job), policy_text(job.policy), msgspec.json.encode(job.policy)))
    assert len(digests) == 1


@pytest.mark.parametrize("value", [Text("q"), Word.A])
def test_subclass_of_text_is_taken_as_text(value: str) -> None:
    app = App()
    work = app.task(name="work")(_work)
    job = new_job(app.tasks, Settings(), work.call(1).set(queue=value))
    assert type(job.queue) is str
    assert job.queue == str(value)


def test_both_paths_name_the_same_of_two_mistakes() -> None:
    app = App()
    request = app.task(name="work")(_work).call(1).set(id="x", priority=2**40)
    settings = Settings()
    messages = []
    for built in (lambda: new_job(app.tasks, settings, request), lambda: new_jobs(app.tasks, settings, [request])):
        with pytest.raises(HanbeonError) as caught:
            built()
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
