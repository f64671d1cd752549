"""The sampler checks each start against the limits in force, and ignores limits that were set later."""

from __future__ import annotations

import msgspec
import pytest

from hanbeon.domain.limits import QueueLimits
from tests.storm.sampler import Sampler

CHANGED_AT = 100
Rows = list[tuple[str, str, str, int, str, int]]


def running(limits: QueueLimits, *started: int, role: str = "", key: str = "") -> Rows:
    text = msgspec.json.encode(limits).decode()
    return [("narrow", role, key, each, text, CHANGED_AT) for each in sorted(started)]


ONE = QueueLimits(max_concurrent=1)


@pytest.mark.parametrize(
    ("rows", "exceeded"),
    [
        pytest.param(running(ONE, 200), 0, id="within"),
        pytest.param(running(ONE, 200, 201), 1, id="over"),
        pytest.param(running(ONE, 50, 60), 0, id="both from before it was lowered"),
        pytest.param(running(ONE, 50, 60, 200), 1, id="started though there was no room yet"),
        pytest.param(running(QueueLimits(), 200, 201), 0, id="no limit"),
        pytest.param(running(QueueLimits(roles={"FE": 1}), 200, 201, role="FE"), 1, id="over its role's"),
        pytest.param(running(QueueLimits(roles={"FE": 1}), 200, 201, role="BE"), 0, id="another role's"),
        pytest.param(running(QueueLimits(max_per_key=1), 200, 201, key="a"), 1, id="over its key's"),
        pytest.param(running(QueueLimits(max_per_key=1), 200, 201), 0, id="no key"),
    ],
)
def test_sampler_reports_starts_over_the_limit_in_force(rows: Rows, exceeded: int) -> None:
    sampler = Sampler("sqlite:///unused.db")
    sampler.note(rows)
    assert (len(sampler.exceeded), sampler.busy_samples) == (exceeded, 1), sampler
    assert sampler.most_in("narrow") == len(rows)
