"""Generated pages and modules are up to date."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT
from tools.docs import pages
from tools.keywords import OPTIONS, SETTINGS, options_of_jobs_and_tasks, settings

_PAGES = pages()


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_generated_page_is_up_to_date(page: Path) -> None:
    assert page.exists(), "run `make docs`"
    assert page.read_text() == _PAGES[page], "out of date: run `make docs`"


@pytest.mark.parametrize(("module", "text"), [(OPTIONS, options_of_jobs_and_tasks), (SETTINGS, settings)])
def test_generated_keywords_are_up_to_date(module: Path, text: Callable[[], str]) -> None:
    assert module.read_text() == text(), "out of date: run `make docs`"
