"""Every term of the glossary stands for one name in the code."""

import re
from collections import Counter

import pytest

from tests.docs.code_names import defined
from tests.docs.markdown import ROOT

_PAGE = ROOT / "docs" / "glossary.md"
_ROW = re.compile(r"^\| \*\*(?P<term>[^*]+)\*\* \| `(?P<path>[\w/]+\.py)`: `(?P<name>\w+)` \| (?P<meaning>.+) \|$")
_ROWS = [line for line in _PAGE.read_text().splitlines() if line.startswith("| **")]
_TERMS = [match.groupdict() for line in _ROWS if (match := _ROW.match(line))]
_WORDS_MOST = 60
"""A term that needs more needs a page."""
_OTHER_NAME = {"process session": "session"}
"""Terms whose qualifier the code leaves to the module."""


def test_every_row_names_code_and_links_to_a_page() -> None:
    assert len(_TERMS) == len(_ROWS) > 50
    assert [each["term"] for each in _TERMS if "](" not in each["meaning"]] == []
    assert [each["term"] for each in _TERMS if len(each["meaning"].split()) > _WORDS_MOST] == []


def test_terms_and_names_occur_once() -> None:
    assert [term for term, times in Counter(each["term"] for each in _TERMS).items() if times > 1] == []
    names = Counter((each["path"], each["name"]) for each in _TERMS)
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("row", _TERMS, ids=lambda row: row["term"])
def test_term_is_a_name_of_the_code(row: dict[str, str]) -> None:
    path = ROOT / "src" / "hanbeon" / row["path"]
    assert row["name"] in defined(path)
    term = _OTHER_NAME.get(row["term"], row["term"])
    assert term.replace(" ", "") in row["name"].replace("_", "").lower()
