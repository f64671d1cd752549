"""Every sentence of the requirements names tests, and those tests exist."""

import re
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT

PAGES = sorted((ROOT / "tests" / "requirements").glob("*.md"))
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
_ROW = re.compile(r"^\| (?!sentence|---)(.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_requirements_name_existing_tests(page: Path) -> None:
    missing = []
    for file, name in _TEST.findall(page.read_text()):
        path = ROOT / file
        if not path.exists() or not re.search(rf"^(async )?def {name}\(", path.read_text(), re.MULTILINE):
            missing.append(f"{file}::{name}")
    assert missing == []


@pytest.mark.parametrize(("name", "least"), [("schedules", 60), ("chains", 40), ("workflows", 28)])
def test_every_requirement_names_a_test(name: str, least: int) -> None:
    rows = _ROW.findall((ROOT / "tests" / "requirements" / f"{name}.md").read_text())
    assert len(rows) >= least
    assert [sentence for sentence, _, shown in rows if not _TEST.search(shown)] == []
