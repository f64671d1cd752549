"""An office on each store in turn, on a clock that stands still."""

import pytest

from hanbeon.testing import TestKit
from tests.surfaces.offices.office_kit import OfficeKit, add_tasks


@pytest.fixture
async def office(kit: TestKit) -> OfficeKit:
    office = OfficeKit(kit, add_tasks(kit.app))
    await office.open()
    return office
