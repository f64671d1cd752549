"""The journal to which task bodies in other processes write."""

from pathlib import Path

import pytest

from tests.storm.journal import Journal


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")
