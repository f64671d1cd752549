"""Rules that requests broke, in Korean: the page knows the form of each text that the validation of requests has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hanbeon.domain.job import check_name
from hanbeon.domain.timing.checks import check_timing
from hanbeon.domain.timing.fire_times import Timing
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule, read_rules, rule_files
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.schema import Request
from hanbeon.surfaces.validation import convert, structs_in
from tests.dashboard.korean import korean, refused, rendered

_WRONG: tuple[Any, ...] = (None, True, "", "\0", -(10**18), 0.5, [], [None], {}, {"x": None}, {"": None})


class _Forms(Request, frozen=True, kw_only=True):
    """Each form of a rule that follows from a type and its bounds."""

    whole: int | UnsetType = UNSET
    size: Annotated[int, Meta(ge=1, le=5)] | UnsetType = UNSET
    least: Annotated[int, Meta(ge=1)] | UnsetType = UNSET
    most: Annotated[int, Meta(le=-5)] | UnsetType = UNSET
    share: float | UnsetType = UNSET
    part: Annotated[float, Meta(ge=1, le=5)] | UnsetType = UNSET
    longer: Annotated[float, Meta(ge=1)] | UnsetType = UNSET
    shorter: Annotated[float, Meta(le=-5)] | UnsetType = UNSET
    text: str | UnsetType = UNSET
    name: Annotated[str, Meta(min_length=1, max_length=5)] | UnsetType = UNSET
    short: Annotated[str, Meta(max_length=0)] | UnsetType = UNSET
    long: Annotated[str, Meta(min_length=2)] | UnsetType = UNSET
    choice: Literal["a", "b"] | UnsetType = UNSET
    flag: bool | UnsetType = UNSET
    nothing: UnsetType | None = UNSET
    either: int | list[str] | UnsetType = UNSET
    items: list[int] | UnsetType = UNSET
    pair: Annotated[list[None], Meta(min_length=2, max_length=2)] | UnsetType = UNSET
    few: Annotated[list[None], Meta(max_length=0)] | UnsetType = UNSET
    many: Annotated[list[None], Meta(min_length=2)] | UnsetType = UNSET
    table: dict[Annotated[str, Meta(min_length=1)], int] | UnsetType = UNSET
    two: Annotated[dict[str, None], Meta(min_length=2, max_length=2)] | UnsetType = UNSET
    none: Annotated[dict[str, None], Meta(max_length=0)] | UnsetType = UNSET
    filled: Annotated[dict[str, None], Meta(min_length=2)] | UnsetType = UNSET


def _refusal(kind: type[msgspec.Struct], value: Any) -> InvalidInput | None:
    try:
        convert(kind, value)
    except InvalidInput as error:
        return error
    return None


def _refusals(kind: type[msgspec.Struct]) -> Iterator[InvalidInput | None]:
    names = kind.__struct_encode_fields__
    for value in ({}, [], {"no-such-field": 1}, *({f"{name}s": 1} for name in names)):
        yield _refusal(kind, value)
    for name in names:
        for wrong in _WRONG:
            yield _refusal(kind, {name: wrong})


def test_page_knows_the_rules_of_all_requests() -> None:
    operations = [each for surface in SURFACES for each in surface.operations]
    requests = {kind for each in operations for kind in (each.request, each.query) if kind is not None}
    found = [each for kind in structs_in([_Forms, *requests]) for each in _refusals(kind) if each is not None]
    refusals = {str(each): each for each in found}
    assert len(refusals) > 100
    assert [text for text, each in refusals.items() if each.rule is None] == []
    shown = korean(refusals.values())
    assert [text for text in shown if not re.search("[가-힣]", text or "") or "undefined" in (text or "")] == []


def test_rules_are_sentences_in_korean() -> None:
    said = {
        refused(lambda: convert(_Forms, {"size": "x"})): "1부터 5까지의 정수여야 합니다. 받은 값: 'x'",
        refused(lambda: convert(_Forms, {"items": [1, None]})): "정수여야 합니다. 받은 값: null",
        refused(lambda: convert(_Forms, {"text": 1})): "문자열이어야 합니다. 받은 값: 1",
        refused(lambda: convert(_Forms, {"either": "x"})): "정수 또는 배열이어야 합니다. 받은 값: 'x'",
        refused(lambda: convert(_Forms, {"many": []})): "항목이 2개 이상인 배열이어야 합니다. 받은 값: 0",
        refused(lambda: check_name("queue", "", required=True)): "비어 있으면 안 됩니다.",
        refused(lambda: check_name("queue", "\0", required=True)): "NUL 문자를 담을 수 없습니다.",
        refused(
            lambda: check_name("queue", "x" * 201, required=True)
        ): "최대 200자의 문자열이어야 합니다. 받은 값: 201",
        refused(lambda: check_timing(Timing(timezone="UTC", starts_at=60_000_000, ends_at=0), 0)): (
            "starts_at(1970-01-01T00:01:00+00:00)보다 앞설 수 없습니다. 받은 값: 1970-01-01T00:00:00+00:00"
        ),
    }
    assert korean(said) == list(said.values())


def test_page_and_server_render_the_same_texts() -> None:
    texts = read_rules(*rule_files())
    names = {code: re.findall(r"\{([a-z_]+)[}:|]", each["en"]) for code, each in texts.items()}
    samples: tuple[Any, ...] = ("'x'", 12_000, ["a", "b"], Rule("null"))
    cases = [(code, dict.fromkeys(names[code], sample)) for code in texts for sample in samples]
    cases += [("must_be", {"what": "x"}), ("unknown_variable", {"known": []})]
    made = [Rule(code, **values) for code, values in cases]
    # Nested rules are Korean on the page: their text stands for them here.
    plain = [
        {name: str(each) if isinstance(each, Rule) else each for name, each in rule.values.items()} for rule in made
    ]
    page = rendered((texts[rule.code]["en"], values) for rule, values in zip(made, plain, strict=True))
    assert page == [str(rule) for rule in made]
    korean_page = rendered((None, rule.serialize()) for rule in made)
    assert [text for text in korean_page if text is None or "undefined" in text or "[[" in text] == []
