"""The table of rules: each code has a text in both languages, and each rule that is raised is one of the table."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import hanbeon
from hanbeon import errors
from hanbeon.domain.templates import TemplateError
from hanbeon.errors import InvalidInput
from hanbeon.rule import TABLE, Rule, read_rules, rule_files

_SOURCE = Path(hanbeon.__file__).parent
_TREES = {path.relative_to(_SOURCE): ast.parse(path.read_text()) for path in sorted(_SOURCE.rglob("*.py"))}
_TEXTS = read_rules(*rule_files())
_VALUE = re.compile(r"\{([a-z_]+)(?::[^{}|]+|\|[^{}]*)?\}")
_OPTIONAL = re.compile(r"\[\[.*?\]\]")
_ALTERNATIVE = re.compile(r"\[\[!([a-z_]+)\|")
_HANGUL = re.compile("[가-힣]")
# Failures of work are no refusals: their text is that of a body, or of what it called.
_CLASSES = {
    each.__name__: each for each in (*errors.all_errors(), TemplateError) if not issubclass(each, errors.WorkFailed)
}
# Of these the message is an argument; others are made of values, and pass a rule on themselves.
_REFUSALS = {
    name
    for name, each in _CLASSES.items()
    if issubclass(each, InvalidInput | TemplateError) or "__init__" not in vars(each)
}


def _calls(names: set[str]) -> Iterator[tuple[str, ast.Call]]:
    for path, tree in _TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                yield f"{path}:{node.lineno}", node


@pytest.mark.parametrize("code", _TEXTS)
def test_each_rule_has_both_languages(code: str) -> None:
    texts = _TEXTS[code]
    assert texts.keys() == {"en", "ko"}
    assert set(_VALUE.findall(texts["ko"])) <= set(_VALUE.findall(texts["en"]))
    assert _HANGUL.search(texts["ko"]) or not re.search("[a-z]", _VALUE.sub("", texts["en"]))
    assert not _HANGUL.search(texts["en"])


def test_each_refusal_of_the_package_is_a_rule() -> None:
    sites = [(place, call) for place, call in _calls(_REFUSALS) if call.args]
    assert len(sites) > 500
    text = ast.Constant | ast.JoinedStr | ast.BinOp
    written = [place for place, call in sites if any(isinstance(each, text) for each in _reasons(call))]
    assert written == []


def test_each_class_of_refusals_passes_a_rule_on() -> None:
    written, seen = [], set[str]()
    for path, tree in _TREES.items():
        for kind in (each for each in ast.walk(tree) if isinstance(each, ast.ClassDef) and each.name in _CLASSES):
            if kind.name in ("HanbeonError", "InvalidInput", "TemplateError"):
                continue  # Users may raise text of their own.
            for call in (each for each in ast.walk(kind) if isinstance(each, ast.Call)):
                if isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
                    seen.add(kind.name)
                    message = call.args[0]
                    if isinstance(message, ast.Constant | ast.JoinedStr | ast.BinOp):
                        written.append(f"{path}: {kind.name}")
    assert {each.__name__ for each in _CLASSES.values() if "__init__" in vars(each)} - seen <= {
        "HanbeonError",
        "InvalidInput",
        "TemplateError",
    }
    assert written == []


def _reasons(call: ast.Call) -> Iterator[ast.expr]:
    """The expression of the message; a text made of an error's text is one, too."""
    assert isinstance(call.func, ast.Name)
    name = call.func.id
    first = {"ConfigInvalid": 2, "ReplayInvalid": 2}.get(name, 0)
    if name in ("DependencyCycle", "ReplayTooLarge", "ReplayQuotaExceeded"):
        return  # They are made of values.
    message = call.args[first]
    if isinstance(message, ast.Call) and isinstance(message.func, ast.Name) and message.func.id == "str":
        yield ast.Constant("")
    yield message


def test_each_rule_has_the_values_of_its_text() -> None:
    wrong = []
    for place, call in _calls({"Rule"}):
        code = call.args[0].value if isinstance(call.args[0], ast.Constant) else None
        names = {each.arg for each in call.keywords}
        if code is None or None in names or str(code) not in _TEXTS:
            wrong += [place] if isinstance(code, str) and code not in _TEXTS else []
            continue
        english = _TEXTS[str(code)]["en"]
        needed = set(_VALUE.findall(_OPTIONAL.sub("", english)))
        known = {*_VALUE.findall(english), *_ALTERNATIVE.findall(english)}
        wrong += [place] if not needed <= names <= known else []
    assert wrong == []


def test_no_rule_is_left_over() -> None:
    constants = {node.value for tree in _TREES.values() for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    # Those that follow from the bounds of a type: `_bounded` of surfaces/validation.py.
    bounded = {f"{kind}_{bound}" for kind in map(str, constants) for bound in ("from_to", "at_least", "at_most")}
    assert sorted(_TEXTS.keys() - constants - bounded) == []


def test_rule_lies_in_the_folder_that_uses_it() -> None:
    """Rules of one surface alone are deleted with it, and those that others use are not."""
    folders = [file.parent for file in rule_files()]
    raised: dict[object, set[Path]] = defaultdict(set)
    named: dict[object, set[Path]] = defaultdict(set)
    for path, tree in _TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant):
                named[node.value].add(_SOURCE / path)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Rule":
                for each in ast.walk(node.args[0]):
                    if isinstance(each, ast.Constant):
                        raised[each.value].add(_SOURCE / path)
    astray = []
    for folder in folders:
        for code in json.loads((folder / TABLE.name).read_bytes()):
            sites = raised[code] or named[code] or {TABLE}
            around = [each for each in folders if all(each in site.parents for site in sites)]
            innermost = max(around, key=lambda each: len(each.parts))
            astray += [(code, innermost.name)] if innermost != folder else []
    assert astray == []


def test_code_in_two_files_is_an_error(tmp_path: Path) -> None:
    second = tmp_path / TABLE.name
    second.write_text('{"not_empty": {"en": "no", "ko": "아니요"}, "new": {"en": "new", "ko": "새것"}}')
    with pytest.raises(ValueError, match="too: not_empty"):
        read_rules(TABLE, second)


def test_values_are_inserted_once_and_empty_parts_left_out() -> None:
    number = Rule("integer_from_to", low=1, high=5)
    assert str(Rule("must_be", what=number, got="{what}")) == "must be an integer from 1 to 5, got {what}"
    assert str(Rule("must_be", what=number, got=None)) == "must be an integer from 1 to 5"
    assert str(Rule("must_be", what=Rule("one_of", choices=["a", "b"]), got="'c'", nearest="'a'")) == (
        "must be one of a, b, got 'c'; did you mean 'a'?"
    )
    assert str(Rule("unknown_variable", known=[])) == "unknown variable; declared are: none"
    assert str(Rule("string_at_most", high=12_000)) == "a string of at most 12,000 characters"
    assert str(Rule("only_one_kind", kinds=["a", "b"])) == "must have only one of a and b"


def test_error_as_a_value_is_its_rule() -> None:
    inner = InvalidInput(Rule("not_empty"), field="cron")
    assert Rule("of_task", error=inner, task="'x'").serialize() == {
        "code": "of_task",
        "error": {"code": "in_field", "field": "cron", "rule": {"code": "not_empty"}},
        "task": "'x'",
    }
    assert Rule("not_json", error=ValueError("no\x1b")).values == {"error": "no\\x1b"}


def test_users_may_raise_text_of_their_own() -> None:
    assert InvalidInput("must be nice", field="mood").rule is None


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
