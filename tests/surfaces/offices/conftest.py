"""An office on each store in turn, on a clock that stands still."""

import pytest

from hanbeon.testing import TestKit
from tests.surfaces.offices.office_kit import Desk, add_tasks


@pytest.fixture
async def desk(kit: TestKit) -> Desk:
    desk = Desk(kit, add_tasks(kit.app))
    await desk.open()
    return desk
