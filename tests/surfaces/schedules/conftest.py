"""Schedules on each store in turn, on a clock that stands still."""

import pytest

from hanbeon.testing import TestKit
from tests.surfaces.schedules.schedule_kit import Timetable, add_tasks


@pytest.fixture
async def timetable(kit: TestKit) -> Timetable:
    return Timetable(kit, add_tasks(kit.app))
