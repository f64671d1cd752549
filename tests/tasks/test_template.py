"""Placeholders: filled in as text, and nothing else."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hanbeon.errors import InvalidInput
from hanbeon.tasks.template import Template, as_text

VALUES = {"args": {"a": "x y", "n": 3, "on": True, "list": [1, "é"], "b-c": "d"}, "job": {"id": "i", "attempt": 2}}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("plain", "plain"),
        ("--to={args.a}!", "--to=x y!"),
        ("{args.n}{args.on}{args.list}", '3true[1,"é"]'),
        ("{args.b-c} {job.id}/{job.attempt}", "d i/2"),
        ("{{args.a}} {{{args.a}}}", "{args.a} {{args.a}}"),
        ("{print $1} {} {{}} }{ {{.Names}} {{ a }}", "{print $1} {} {{}} }{ {{.Names}} {{ a }}"),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        ("", ""),
    ],
)
def test_it_is_filled_in(text: str, filled: str) -> None:
    assert Template(text, "command").fill(VALUES) == filled


def test_quotes_filled_in_values_and_never_expands_them_again() -> None:
    values = {"args": {"a": "{args.a}/.."}}
    assert Template("a/{args.a}", "url").fill(values, lambda text: text.replace("/", "%2F")) == "a/{args.a}%2F.."


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("{target}", "did you mean {args.target}"),
        ("{job.idd}", "did you mean job.id"),
        ("{arg.target}", "Write {args.NAME}"),
        ("{args.a.b}", "Write {args.NAME}"),
        ("a\x00b", "NUL"),
    ],
)
def test_rejects_invalid_placeholders(text: str, hint: str) -> None:
    with pytest.raises(InvalidInput, match="command") as refused:
        Template(text, "command")
    assert hint in str(refused.value)


def test_it_knows_what_it_wants() -> None:
    assert Template("{args.b} {job.id} {args.a}", "command").arguments == ["b", "a"]
    assert Template("{{args.b}}", "command").is_constant


@given(st.text(alphabet=st.characters(exclude_characters="{}\x00")))
def test_any_text_without_braces_is_itself(text: str) -> None:
    assert Template(text, "command").fill({}) == text


@given(st.text(), st.sampled_from(string.ascii_letters))
def test_any_value_comes_through_as_it_is(value: str, name: str) -> None:
    assert Template(f"[{{args.{name}}}]", "command").fill({"args": {name: value}}) == f"[{value}]"
    assert as_text(value) == value
