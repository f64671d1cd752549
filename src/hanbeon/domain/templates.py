"""Texts with `{{ name }}`: substitution alone. There is nothing to evaluate, so nothing in a text can be run."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from hanbeon.quotation import nearest, quoted
from hanbeon.rule import Rule

RENDERED_MOST = 262_144
"""Characters of a rendered text."""
RENDERED_SUM_MOST = 4_194_304
"""Characters of all texts that are rendered together: a message, a request, the arguments of a job."""
_NAME_MOST = 200
_OPENING = re.compile(r"\{[{%#]")
# Parts begin with a letter, an underscore or, as places in a list, with a digit. A dash stands in names of steps and in
# fields of answers; nothing is ever subtracted.
_SUBSTITUTION = re.compile(r"\{\{\s*(\w[\w-]*(?:\.\w[\w-]*)*)\s*\}\}")
_BROKEN = {"{%": "template_statement", "{#": "template_comment", "{{": "template_name_only"}


class TemplateError(ValueError):
    """A template that is refused, or that cannot be rendered; the rule names the variable and its place."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        super().__init__(rule)


class Budget:
    """Characters that texts may have together when rendered. One is handed to all that are held at once."""

    def __init__(self, most: int = RENDERED_SUM_MOST) -> None:
        self.most = self.left = most


class _Piece(NamedTuple):
    """Literal text, and the name whose value follows it; the last piece has none."""

    literal: str
    name: str | None
    position: int


def variables(text: str) -> frozenset[str]:
    """Return the names that the text uses, such as `name` and `steps.report.output.total`."""
    return frozenset(piece.name for piece in _pieces(text) if piece.name is not None)


def check(text: str, known: Collection[str]) -> None:
    """Raise TemplateError unless the text uses nothing but substitution of known names.

    A known name admits what lies below it: `steps.report.output` admits `steps.report.output.total`.
    """
    allowed = {_canonical(name) for name in known}
    for piece in _pieces(text):
        if piece.name is not None and not allowed.intersection(_prefixes(piece.name)):
            raise TemplateError(_unknown(text, piece, allowed))


def render(
    text: str,
    values: Mapping[str, Any],
    *,
    encode: Callable[[str], str] | None = None,
    most: int = RENDERED_MOST,
    budget: Budget | None = None,
    kept: str | None = None,
) -> str:
    """Return the text with its names replaced, in one pass: what a value contains is never substituted again.

    A dotted name goes down through mappings and lists and nothing else. Text is inserted as it is, null as nothing,
    everything else as JSON; `encode` is applied to what is inserted. Names below `kept` stay, for another pass: encode
    what is inserted, or a value becomes a name there. Raises TemplateError for a name without a value and for a result
    of more than `most` characters, or than its budget has left.
    """
    if budget is not None and budget.left < most:
        room, most = budget.left, budget.most
    else:
        room = most
    top = {_canonical(name): value for name, value in values.items()}
    parts: list[str] = []
    for piece in _pieces(text):
        if kept is not None and piece.name is not None and piece.name.startswith(f"{kept}."):
            inserted = f"{{{{ {piece.name} }}}}"
        else:
            found = "" if piece.name is None else _text_of(_value(text, piece, top), text, piece)
            inserted = found if encode is None else encode(found)
        room -= len(piece.literal) + len(inserted)
        if room < 0:
            raise TemplateError(Rule("rendered_too_long", most=most))
        parts += (piece.literal, inserted)
    rendered = "".join(parts)
    if budget is not None:
        budget.left -= len(rendered)
    return rendered


def _pieces(text: str) -> Iterator[_Piece]:
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        found = _SUBSTITUTION.match(text, opening.start())
        if found is None or len(found[1]) > _NAME_MOST:
            place = _place(text, opening.start())
            if found is not None:
                raise TemplateError(Rule("template_name_too_long", most=_NAME_MOST, got=len(found[1]), **place))
            got = quoted(text[opening.start() : opening.start() + 30])
            raise TemplateError(Rule(_BROKEN[opening[0]], got=got, **place))
        yield _Piece(text[at : opening.start()], _canonical(found[1]), opening.start())
        at = found.end()
    yield _Piece(text[at:], None, len(text))


def _canonical(name: str) -> str:
    """One form for one name: some systems write a Korean syllable as its letters."""
    return unicodedata.normalize("NFC", name)


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]


def _value(text: str, piece: _Piece, values: Mapping[str, Any]) -> Any:
    """Look the name up. Attributes of objects are never read."""
    found: Any = values
    for part in (piece.name or "").split("."):
        if isinstance(found, Mapping) and part in found:
            found = found[part]
        elif isinstance(found, list | tuple) and part.isascii() and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        else:
            place = _place(text, piece.position)
            raise TemplateError(Rule("template_no_value", name=quoted(piece.name), **place))
    return found


def _text_of(value: Any, text: str, piece: _Piece) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        kind, place = type(value).__name__, _place(text, piece.position)
        raise TemplateError(Rule("template_value_kind", kind=kind, name=quoted(piece.name), **place)) from None


def _unknown(text: str, piece: _Piece, allowed: Collection[str]) -> Rule:
    near = nearest(str(piece.name), allowed)
    if near:
        remedy = Rule("did_you_mean", name=near[0])
    elif allowed:
        remedy = Rule("use_one_of", known=", ".join(sorted(allowed)[:20]) + (" …" if len(allowed) > 20 else ""))
    else:
        remedy = Rule("declare_first")
    return Rule("template_variable", name=quoted(piece.name), remedy=remedy, **_place(text, piece.position))


def _place(text: str, position: int) -> dict[str, int]:
    before = text[:position]
    return {"line": before.count("\n") + 1, "column": position - before.rfind("\n")}
