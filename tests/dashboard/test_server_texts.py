"""Sentences of the server in Korean: each code of a closed set has one, with values that the answer has."""

import json
import re
from collections.abc import Iterable, Iterator

import pytest

from hanbeon.domain.dead_letters import DeadLetterCode
from hanbeon.domain.explain import ExplanationCode
from hanbeon.domain.timeline import MomentType
from hanbeon.domain.timing.fire_times import NoteKind
from hanbeon.rule import read_rules, rule_files
from hanbeon.server import dashboard, docs_pages, health, session
from hanbeon.server.openapi import describe, problems_of
from hanbeon.settings import Settings
from hanbeon.surfaces.engine.schemas import DeadLetter
from hanbeon.surfaces.exports.rendering.renderer import RenderPhase
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.schema import ExplanationReason
from tests.docs.markdown import ROOT

_TEXTS = json.loads((ROOT / "dashboard/src/lib/server_texts.json").read_text())
_RULES = read_rules(*rule_files())
_OPERATIONS = [*health.OPERATIONS, *session.OPERATIONS, *(each for surface in SURFACES for each in surface.operations)]
_CODES: dict[str, Iterable[str]] = {
    "explanation": ExplanationCode,
    "dead_letter": DeadLetterCode,
    "moment": MomentType,
    "note": NoteKind,
    "phase": RenderPhase,
    "problem": {code for each in _OPERATIONS for codes in problems_of(each).values() for code in codes},
}
_VALUES = {
    "explanation": ExplanationReason.__annotations__.keys(),
    "dead_letter": {*DeadLetter.__struct_fields__, "value"},
    "moment": {"queue", "attempt", "why", "by", "said"},
    "note": {"date", "wall", "at"},
    "phase": set(),
    "problem": {"detail", "state"},
}


def _descriptions(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("description"), str):
            yield schema["description"]
        for each in schema.values():
            yield from _descriptions(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _descriptions(each)


def test_texts_of_the_reference_and_settings_are_all_translated() -> None:
    operations = [*dashboard.OPERATIONS, *docs_pages.OPERATIONS, *_OPERATIONS]
    channels = [each for surface in SURFACES for each in surface.channels]
    description = describe(operations, channels)
    korean = json.loads((docs_pages.FOLDER / docs_pages.KOREAN).read_text())
    summaries = {operation["summary"] for each in description["paths"].values() for operation in each.values()}
    settings = {field.description for field in Settings.model_fields.values()}
    assert korean.keys() == summaries | settings | set(_descriptions(description["components"]["schemas"]))
    assert [text for text in korean.values() if not re.search("[가-힣]", text)] == []


def test_closed_sets_are_all_translated() -> None:
    assert _TEXTS.keys() == _CODES.keys()


@pytest.mark.parametrize("kind", _CODES)
def test_server_texts_have_each_code_in_korean(kind: str) -> None:
    codes = set(map(str, _CODES[kind]))
    if kind == "problem":
        codes -= _RULES.keys() - _TEXTS[kind].keys()  # The page has the text of their rule.
    assert {key.partition(".")[0] for key in _TEXTS[kind]} == codes
    # A code is a text by itself, also where some of its cases have others.
    assert codes <= _TEXTS[kind].keys()


@pytest.mark.parametrize("kind", _CODES)
def test_server_texts_are_korean_with_known_values(kind: str) -> None:
    for key, text in _TEXTS[kind].items():
        assert set(re.findall(r"\{(\w+)\}", text)) <= _VALUES[kind], key
        words = re.sub(r"\{\w+\}", "", text)
        assert not words or re.search("[가-힣]", words), key


_PATTERN = re.compile(r"(?<![\w/*<\"])/(?![/*])((?:[^/\\\n]|\\.)+)/[dgimsuvy]*(?=[\s,;).\]])")
_PROSE = re.compile("[a-z]{2,} [a-z]{2,}")


def test_no_regular_expression_of_the_page_reads_a_sentence() -> None:
    found = []
    files = [each for each in (ROOT / "dashboard/src").rglob("*.ts*") if ".test." not in each.name]
    assert len(files) > 50
    for file in files:
        # Of markup only what is between braces can be one; a closing tag begins after `<`.
        lines = [re.sub(r"</?[\w.]+|/>", "", line) for line in file.read_text().splitlines()]
        found += [
            f"{file.name}: {each[0]}" for line in lines for each in _PATTERN.finditer(line) if _PROSE.search(each[1])
        ]
    assert found == []
    # Of the kind that the page had.
    assert _PROSE.search(next(_PATTERN.finditer("[/^must be (.+?), got (.+)$/, 1]"))[1])
