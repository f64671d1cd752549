"""Generated pages are up to date."""

from pathlib import Path

import pytest

from tests.docs.markdown import ROOT
from tools.docs import pages

_PAGES = pages()


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_generated_page_is_up_to_date(page: Path) -> None:
    assert page.exists(), "run `make docs`"
    assert page.read_text() == _PAGES[page], "out of date: run `make docs`"
