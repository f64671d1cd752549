"""The questions of CONTRIBUTING.md have the files and names where their answers are."""

import re

import pytest

from tests.docs.code_names import defined
from tests.docs.markdown import ROOT

_ROW = re.compile(r"^\| (.+\?) \| `([\w/.]+)`: `(\w+)` \|$", re.MULTILINE)
_GUESSES = _ROW.findall((ROOT / "CONTRIBUTING.md").read_text())


def test_there_are_twenty_questions() -> None:
    assert len(_GUESSES) == 20
    assert len({file for _, file, _ in _GUESSES}) == 20


@pytest.mark.parametrize(("question", "file", "name"), _GUESSES, ids=[name for _, _, name in _GUESSES])
def test_answer_is_where_the_question_leads(question: str, file: str, name: str) -> None:
    path = ROOT / "src" / "hanbeon" / file if not file.startswith("dashboard/") else ROOT / file
    assert path.exists(), question
    assert name in defined(path), question
