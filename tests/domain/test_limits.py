"""Admission: limits are never exceeded, a queue keeps its order, queues take turns."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hanbeon.domain.limits import Candidate, QueueLimits, Usage, admit

OPEN = QueueLimits()
NAMES = st.sampled_from(["", "x", "y"])
LIMIT = st.integers(0, 3)
LIMITS = st.builds(
    QueueLimits,
    LIMIT,
    LIMIT,
    st.dictionaries(st.sampled_from("xy"), LIMIT),
    st.dictionaries(st.sampled_from("xy"), LIMIT),
)

URGENT = -(2**32)
"""The store's rank of urgent jobs, before every priority."""


@st.composite
def claims(
    draw: st.DrawFn,
) -> tuple[list[Candidate], dict[int, QueueLimits], dict[int, list[tuple[str, str]]], list[int], int]:
    queues = draw(st.lists(st.integers(1, 4), unique=True))
    limits = {queue: draw(LIMITS) for queue in queues}
    running = {queue: draw(st.lists(st.tuples(NAMES, NAMES), max_size=4)) for queue in queues}
    candidates = [
        Candidate(
            seq,
            draw(st.integers(1, 4)),
            draw(NAMES),
            draw(NAMES),
            draw(st.sampled_from((0, URGENT))) + draw(st.integers(-1, 1)),
            draw(st.booleans()),
        )
        for seq in range(draw(st.integers(0, 12)))
    ]
    return candidates, limits, running, draw(st.permutations(queues)), draw(st.integers(0, 8))


def _usage(running: dict[int, list[tuple[str, str]]], limits: dict[int, QueueLimits]) -> dict[int, Usage]:
    usage = {queue: Usage() for queue in running if limits[queue].limited}
    for queue, pairs in running.items():
        for role, key in pairs if queue in usage else []:
            usage[queue].add(role, key)
    return usage


def _over(limits: QueueLimits, running: list[tuple[str, str]]) -> set[str]:
    roles, keys = Counter(role for role, _ in running), Counter(key for _, key in running)
    over = {f"role {role}" for role, count in roles.items() if 0 < limits.for_role(role) < count}
    over |= {f"key {key}" for key, count in keys.items() if 0 < limits.for_key(key) < count}
    return over | ({"queue"} if 0 < limits.max_concurrent < len(running) else set())


@given(claims())
def test_no_limit_is_exceeded_and_want_is_respected(
    claim: tuple[list[Candidate], dict[int, QueueLimits], dict[int, list[tuple[str, str]]], list[int], int],
) -> None:
    candidates, limits, running, turns, want = claim
    by_seq = {candidate.seq: candidate for candidate in candidates}
    admitted = [by_seq[seq] for seq in admit(candidates, limits, _usage(running, limits), turns, want)]
    assert len(admitted) <= want
    assert len(set(admitted)) == len(admitted)
    assert {candidate.queue_id for candidate in admitted} <= set(turns)
    for queue in turns:
        now = running[queue] + [(c.role, c.key) for c in admitted if c.queue_id == queue]
        # A limit that was lowered may be exceeded by what runs, but nothing is started into it.
        started = {f"role {c.role}" for c in admitted if c.queue_id == queue}
        started |= {f"key {c.key}" for c in admitted if c.queue_id == queue} | ({"queue"} if started else set())
        assert not _over(limits[queue], now) & started


@given(claims())
def test_admit_keeps_order_and_skips_only_full_lanes(
    claim: tuple[list[Candidate], dict[int, QueueLimits], dict[int, list[tuple[str, str]]], list[int], int],
) -> None:
    candidates, limits, running, turns, want = claim
    by_seq = {candidate.seq: candidate for candidate in candidates}
    admitted = [by_seq[seq] for seq in admit(candidates, limits, _usage(running, limits), turns, want)]
    for queue in turns:
        mine = [c for c in admitted if c.queue_id == queue]
        assert mine == sorted(mine, key=lambda c: c.order)
        for candidate in candidates:
            if candidate.queue_id == queue and mine and candidate not in mine and candidate.order < mine[-1].order:
                before = [c for c in mine if c.order < candidate.order]
                usage = Usage()
                for role, key in running[queue] + [(c.role, c.key) for c in before]:
                    usage.add(role, key)
                assert not usage.room(limits[queue], candidate.role, candidate.key)


@given(claims())
def test_queues_take_turns(
    claim: tuple[list[Candidate], dict[int, QueueLimits], dict[int, list[tuple[str, str]]], list[int], int],
) -> None:
    candidates, _, _, turns, want = claim
    candidates = [candidate._replace(more=False) for candidate in candidates]
    by_seq = {candidate.seq: candidate for candidate in candidates}
    order = [by_seq[seq].queue_id for seq in admit(candidates, dict.fromkeys(turns, OPEN), {}, turns, want)]
    waiting = {queue: sum(c.queue_id == queue for c in candidates) for queue in turns}
    assert len(order) == min(want, sum(waiting.values()))
    for place, queue in enumerate(order):
        # Whoever had more turns than another by now did so because the other had nothing left.
        had = Counter(order[:place])
        for other in turns:
            if had[other] < had[queue]:
                assert had[other] == waiting[other]


def test_by_rank_then_age() -> None:
    candidates = [
        Candidate(1, 7, "", "", 0),
        Candidate(2, 7, "", "", -5),
        Candidate(3, 7, "", "", URGENT + 100),
        Candidate(4, 7, "", "", URGENT + 3),
        Candidate(5, 7, "", "", 0),
    ]
    assert admit(candidates, {7: OPEN}, {}, [7], 10) == [4, 3, 2, 1, 5]


def test_admit_stops_before_a_job_that_was_not_read() -> None:
    urgent = [Candidate(1, 7, "a", "", URGENT), Candidate(2, 7, "a", "", URGENT, more=True)]
    normal = [Candidate(9, 7, "b", "", 0)]
    other = [Candidate(20 + n, 8, "", "", 0) for n in range(5)]
    open_queues = {7: OPEN, 8: OPEN}
    assert admit([*urgent, *normal, *other], open_queues, {}, [7, 8], 10) == [1, 20, 2, 21, 22, 23, 24]
    # A lane that is full hides nothing that could start.
    limits, usage = {7: QueueLimits(roles={"a": 2}), 8: OPEN}, {7: Usage()}
    assert admit([*urgent, *normal], limits, usage, [7, 8], 10) == [1, 2, 9]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (OPEN, False),
        (QueueLimits(max_concurrent=1), True),
        (QueueLimits(max_per_key=1), True),
        (QueueLimits(roles={"x": 1}), True),
        (QueueLimits(keys={"x": 1}), True),
    ],
)
def test_a_queue_is_limited_if_it_has_any_limit(limits: QueueLimits, expected: bool) -> None:
    assert limits.limited is expected


def test_a_limit_for_one_key_goes_before_the_one_for_each() -> None:
    limits = QueueLimits(max_per_key=2, keys={"vip": 5, "free": 0}, roles={"FE": 1})
    assert [limits.for_key(key) for key in ("vip", "free", "other", "")] == [5, 0, 2, 0]
    assert [limits.for_role(role) for role in ("FE", "BE", "")] == [1, 0, 0]
