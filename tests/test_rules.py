"""The table of rules: each code has a text in both languages, and each rule that is raised is one of the table."""

from __future__ import annotations

import json
import re

import pytest

from hanbeon.rule import TABLE, Rule

_TEXTS: dict[str, dict[str, str]] = json.loads(TABLE.read_bytes())
_VALUE = re.compile(r"\{(\w+)(?::[^{}|]+|\|[^{}]*)?\}")
_HANGUL = re.compile("[가-힣]")


@pytest.mark.parametrize("code", _TEXTS)
def test_each_rule_has_both_languages(code: str) -> None:
    texts = _TEXTS[code]
    assert texts.keys() == {"en", "ko"}
    assert set(_VALUE.findall(texts["ko"])) <= set(_VALUE.findall(texts["en"]))
    assert _HANGUL.search(texts["ko"]) or not _VALUE.sub("", texts["en"]).strip()
    assert not _HANGUL.search(texts["en"])


def test_values_are_inserted_once_and_empty_parts_left_out() -> None:
    number = Rule("integer_from_to", low=1, high=5)
    assert str(Rule("must_be", what=number, got="{what}")) == "must be an integer from 1 to 5, got {what}"
    assert str(Rule("must_be", what=number, got=None)) == "must be an integer from 1 to 5"
    assert str(Rule("must_be", what=Rule("one_of", choices=["a", "b"]), got="'c'", nearest="'a'")) == (
        "must be one of a, b, got 'c'; did you mean 'a'?"
    )
    assert str(Rule("string_at_most", high=12_000)) == "a string of at most 12,000 characters"


def test_rule_is_json_and_back() -> None:
    rule = Rule("must_be", what=Rule("either", alternatives=[Rule("null"), Rule("integer")]), got="\x1b", nearest=None)
    data = json.loads(json.dumps(rule.serialize()))
    assert data == {
        "code": "must_be",
        "what": {"code": "either", "alternatives": [{"code": "null"}, {"code": "integer"}]},
        "got": "\\x1b",
    }
    assert Rule.parse(data) == rule
    assert str(Rule.parse(data)) == str(rule)
