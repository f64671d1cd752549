"""What bodies of other processes tell."""

from pathlib import Path

import pytest

from tests.processes.journal import Journal


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")
