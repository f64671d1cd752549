"""Workflows on each store in turn, worked by hand on a clock that stands still."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from hanbeon import App
from hanbeon.testing import TestKit
from tests.surfaces.workflows.workflow_kit import WorkflowKit


@pytest.fixture
async def workflow_kit(database_url: str) -> AsyncIterator[WorkflowKit]:
    async with TestKit(App(outbound_allow_private=True), database_url) as kit:
        yield WorkflowKit(kit)


@pytest.fixture
async def sqlite_workflows(sqlite_url: str) -> AsyncIterator[WorkflowKit]:
    """For what is refused before a store is asked."""
    async with TestKit(App(), sqlite_url) as kit:
        yield WorkflowKit(kit)
