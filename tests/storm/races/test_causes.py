"""One cause makes one job, however many processes request it at the same time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import pytest

from hanbeon.domain.lifecycle import State
from hanbeon.errors import UniqueKeyTaken
from tests.processes.process import Process, together
from tests.storm.answers import ask_all
from tests.storm.enqueuers import WAYS, Shape, in_a_batch, one_by_one
from tests.storm.fleet import opened
from tests.storm.moments import assert_sound
from tests.storm.observer import query
from tests.storm.race import assert_no_deadlocks
from tests.storm.sizes import TIMEOUT, part, short_on, sized

pytestmark = pytest.mark.timeout(TIMEOUT)

PROCESSES = 4


class Answer(NamedTuple):
    """The answer that one process got for one cause."""

    cause: int
    job_id: str | None
    created: bool
    refusal: str | None


@short_on("postgres")
@pytest.mark.parametrize(("shape", "size"), [(one_by_one, 50), (in_a_batch, 200)])
async def test_one_cause_makes_one_job(database_url: str, shape: Shape, size: int, share: float) -> None:
    causes = part(sized(size), share)
    async with opened(database_url) as app:
        with together(PROCESSES, lambda _: _enqueuer(database_url, shape.__name__, causes)) as processes:
            for way in WAYS:
                answers = [Answer(*answer) for answer in ask_all(processes, way)]
                assert Counter(answer.cause for answer in answers) == dict.fromkeys(range(causes), PROCESSES)
                _check_answers(way, answers)
                await _check_jobs(database_url, way, causes)
        await assert_sound(app)
    await assert_no_deadlocks(database_url)


def _enqueuer(url: str, shape: str, causes: int) -> Process:
    return Process("tests.storm.enqueuers", [url, shape, str(causes)])


def _check_answers(way: str, answers: Iterable[Answer]) -> None:
    """Check that one process created the job and that the others got that job or were refused because of it."""
    causes = defaultdict(list)
    for answer in answers:
        causes[answer.cause].append(answer)
    for answers in causes.values():
        made = [answer for answer in answers if answer.created]
        others = [answer for answer in answers if not answer.created]
        match way:
            case "replace":
                assert not others, answers
            case "refuse":
                assert len(made) == 1, answers
                assert {answer.refusal for answer in others} == {UniqueKeyTaken.code}, answers
            case _:
                assert len(made) == 1, answers
                assert {answer.job_id for answer in others} == {made[0].job_id}, answers


async def _check_jobs(url: str, way: str, causes: int) -> None:
    """Check that there is one job per cause; where each replaced the previous one, one that is not cancelled."""
    rows = await query(url, "SELECT work_item, state, count(*) FROM hanbeon.jobs GROUP BY work_item, state")
    jobs = {(cause, State(state)): count for cause, state, count in rows if cause.startswith(f"{way} ")}
    named = [f"{way} {number}" for number in range(causes)]
    if way == "replace":
        pending = {(cause, State.PENDING): 1 for cause in named}
        assert jobs == pending | {(cause, State.CANCELLED): PROCESSES - 1 for cause in named}
    else:
        assert jobs == {(cause, State.READY): 1 for cause in named}
