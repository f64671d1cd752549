"""An office that tells servers of the test, on each store in turn, on a clock that stands still."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator

import pytest

from hanbeon import App
from hanbeon.testing import TestKit
from tests.surfaces.offices.office_kit import OfficeKit, add_tasks


@pytest.fixture
async def office(kit_url: str) -> AsyncIterator[OfficeKit]:
    # Of today, since receivers refuse what was signed long ago.
    app = App(outbound_allow_private=True, webhook_timeout=4.0, webhook_patience=600)
    gates = add_tasks(app)
    async with TestKit(app, kit_url, start=dt.datetime.now(dt.UTC)) as kit:
        office = OfficeKit(kit, gates)
        await office.open()
        yield office
