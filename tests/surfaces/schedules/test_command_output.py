"""Schedules and fires as table rows."""

import pytest

from hanbeon.surfaces.schedules.command_output import fire_row
from hanbeon.surfaces.schedules.schemas import Fire
from hanbeon.surfaces.schedules.vocabulary import FireOutcome, FireReason


@pytest.mark.parametrize(("more", "reason"), [(0, "limit"), (7, "limit (and at least 7 after it)")])
def test_fire_row_counts_the_fires_after_it(more: int, reason: str) -> None:
    """A row stands for its own fire, the first of those without a row, and `more` that follow it in time."""
    fire = Fire(
        fire_at="2030-01-31T09:00:00.000+09:00",
        outcome=FireOutcome.MISSED,
        reason=FireReason.LIMIT,
        execution_id=None,
        status=None,
        more=more,
        recorded_at="2030-01-31T12:00:00.250+09:00",
    )
    assert fire_row(fire) == ["2030-01-31T09:00:00+09:00", "missed", reason, "", "", "2030-01-31T12:00:00+09:00"]
