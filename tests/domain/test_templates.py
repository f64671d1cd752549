"""Templates substitute names and do nothing else."""

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hanbeon.domain.templates import RENDERED_MOST, TemplateError, check, render, variables

VALUES: dict[str, Any] = {
    "name": "에이다",
    "count": 3,
    "steps": {"report": {"output": {"total": 1.5, "rows": [{"id": 7}], "content-type": "text/plain"}}},
}
KNOWN = ["name", "count", "steps.report.output"]


def test_renders_names_text_numbers_and_json() -> None:
    text = "{{name}}님, {{ count }}건: {{ steps.report.output.total }} {{ steps.report.output.rows.0.id }}"
    check(text, KNOWN)
    assert render(text, VALUES) == "에이다님, 3건: 1.5 7"
    assert variables(text) == {"name", "count", "steps.report.output.total", "steps.report.output.rows.0.id"}
    assert json.loads(render("{{ steps.report.output }}", VALUES)) == VALUES["steps"]["report"]["output"]
    assert render("{{ steps.report.output.content-type }}|{{ none }}|", {**VALUES, "none": None}) == "text/plain||"


def test_braces_of_json_are_literal() -> None:
    text = '{"user": {"name": "{{ name }}"}} 100% {x} }} # }'
    check(text, ["name"])
    assert json.loads(render(text, {"name": "Ada"}).partition(" 100%")[0]) == {"user": {"name": "Ada"}}


def test_one_name_in_either_unicode_form() -> None:
    decomposed = unicodedata.normalize("NFD", "이름")
    assert decomposed != "이름"
    check(f"{{{{ {decomposed} }}}}", ["이름"])
    assert render("{{ 이름 }}", {decomposed: "에이다"}) == "에이다"


@pytest.mark.parametrize(
    "text",
    [
        "{% for x in y %}",
        "{%- set a = 1 %}",
        "{# note #}",
        "{{ name | upper }}",
        "{{ name() }}",
        "{{ 1 + 1 }}",
        "{{ steps['report'] }}",
        "{{ 'x' }}",
        "{{ name.__class__() }}",
        "{{ }}",
        "{{",
        "{{ name",
        "{{ name }",
        "{{{ name }}}",
        "{{ {{ name }} }}",
        "{{ .name }}",
        "{{ name. }}",
        "{{ name..x }}",
        "{{ na me }}",
        "{{ " + "a" * 201 + " }}",
    ],
)
def test_refuses_anything_but_substitution(text: str) -> None:
    for use in (lambda: check(text, KNOWN), lambda: render(text, VALUES), lambda: variables(text)):
        with pytest.raises(TemplateError, match="at line 1, column 1"):
            use()


def test_unknown_variable_is_named_with_place_and_remedy() -> None:
    with pytest.raises(TemplateError, match=r"'nmae' at line 2, column 7; did you mean name\?"):
        check("안녕\n반가워요, {{ nmae }}", KNOWN)
    with pytest.raises(TemplateError, match=r"'other' .*use one of count, name, steps.report.output"):
        check("{{ other }}", KNOWN)
    # Only what lies below a known name is admitted, not what stands above or beside it.
    for text in ("{{ steps }}", "{{ steps.report }}", "{{ steps.report.outputs }}", "{{ names }}"):
        with pytest.raises(TemplateError):
            check(text, KNOWN)


@pytest.mark.parametrize(
    "name", ["absent", "name.upper", "count.real", "steps.report.output.rows.1", "steps.__class__"]
)
def test_a_name_without_a_value_is_an_error(name: str) -> None:
    with pytest.raises(TemplateError, match="got none for"):
        render(f"{{{{ {name} }}}}", VALUES)


def test_an_object_is_not_rendered() -> None:
    with pytest.raises(TemplateError, match="got object for 'name'"):
        render("{{ name }}", {"name": object()})


def test_rendered_text_is_bounded() -> None:
    with pytest.raises(TemplateError, match=f"at most {RENDERED_MOST:,} characters"):
        render("{{ name }}" * 300, {"name": "x" * 1_000})
    assert len(render("{{ name }}", {"name": "x" * RENDERED_MOST})) == RENDERED_MOST


HOSTILE = st.text(alphabet=st.sampled_from(list("{}%#|.'\"[]()_ \n\\aname0-")) | st.characters(), max_size=60)


@settings(max_examples=300)
@given(text=HOSTILE, value=HOSTILE)
def test_values_are_inserted_once_and_literally(text: str, value: str) -> None:
    assert render("<{{ a }}{{ b }}>", {"a": value, "b": "{{ a }}"}) == f"<{value}{{{{ a }}}}>"
    try:
        names = variables(text)
    except TemplateError:
        return
    # A text that is accepted consists of literals and names: cutting the names out leaves no opening behind.
    check(text, names)
    if not names:
        assert render(text, {}) == text


@pytest.mark.slow
@settings(max_examples=5_000)
@given(text=HOSTILE)
def test_hostile_templates_render_or_are_refused(text: str) -> None:
    try:
        check(text, ["name", "a"])
        rendered = render(text, {"name": {"a": "1"}, "a": ["0"]})
    except TemplateError:
        return
    assert not any(sign in rendered for sign in ("{{", "{%", "{#"))
