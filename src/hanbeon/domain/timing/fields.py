"""The fields of a cron expression: their valid values, and the reason why a term is invalid."""

from __future__ import annotations

import re

from cronsim import CronSimError
from cronsim.cronsim import RANGES, SYMBOLIC_DAYS, SYMBOLIC_MONTHS, Field

from hanbeon.errors import InvalidInput
from hanbeon.quotation import nearest
from hanbeon.rule import Rule

_RULES: dict[Field, str] = {
    Field.SECOND: "cron_second",
    Field.MINUTE: "cron_minute",
    Field.HOUR: "cron_hour",
    Field.DAY: "cron_day",
    Field.MONTH: "cron_month",
    Field.DOW: "cron_weekday",
}
_SYMBOLS: dict[Field, list[str]] = {Field.MONTH: SYMBOLIC_MONTHS, Field.DOW: SYMBOLIC_DAYS}
_SHOWN = 40


def check_field(field: Field, part: str) -> None:
    """Raise for the first invalid term of a field, with the reason and a valid example."""
    for term in part.split(","):
        reason = _reason(field, term)
        if reason is not None:
            raise InvalidInput(Rule(_RULES[field], got=repr(term[:_SHOWN]), reason=reason), field="cron")


def plain(field: Field, part: str) -> str:
    """Rewrite a valid field so that the library reads it correctly: it takes 5-5/2 for 5/2, without an upper bound."""
    return ",".join(_plain_term(field, term) for term in part.split(","))


def _plain_term(field: Field, term: str) -> str:
    start, stepped, _ = term.partition("/")
    if not stepped or "-" not in start:
        return term
    values = field.parse(start)
    return str(min(values)) if len(values) == 1 else term


def _reason(field: Field, term: str) -> Rule | None:
    """Return why a term is invalid, or None if it is valid."""
    if not term:
        return Rule("cron_empty_term")
    if "?" in term:
        return Rule("cron_question_mark")
    if "/" in term:
        return _bad_step(field, *term.split("/", maxsplit=1))
    return _refused(field, term)


def _bad_step(field: Field, start: str, step: str) -> Rule | None:
    # The library takes L/2 for L and */90 for */60, which cannot be what the user meant.
    if re.fullmatch(r"\d*\.\d+", step):
        return Rule("cron_step_fraction")
    if not step.isdigit():
        return Rule("cron_step_not_integer", step=repr(step[:_SHOWN]))
    if int(step) == 0:
        return Rule("cron_step_zero")
    if ("L" in start and field in (Field.DAY, Field.DOW)) or "#" in start:
        return Rule("cron_step_start")
    many = 7 if field is Field.DOW else len(RANGES[field])
    if int(step) > many:
        return Rule("cron_step_too_long", step=step, count=many)
    return _refused(field, start)


def _refused(field: Field, term: str) -> Rule | None:
    try:
        field.parse(term)
    except CronSimError:
        return _why(field, term)
    return None


def _why(field: Field, term: str) -> Rule:
    """Return the most specific reason for a term that the library rejects."""
    base, numbered, _ = term.partition("#")
    if numbered and field is not Field.DOW:
        return Rule("cron_number_sign")
    if field is Field.DOW and re.fullmatch(r"[A-Z]{3}L", term) and term[:3] in SYMBOLIC_DAYS:
        return Rule("cron_last_weekday", day=term[:3], written=f"{SYMBOLIC_DAYS.index(term[:3])}L")
    if term in ("L", "W", "LW") or re.fullmatch(r"\d+[LW]|L-\d+", term):
        return Rule("cron_no_meaning", term=term[:_SHOWN])
    low, ranged, high = base.partition("-")
    for end in (low, high) if ranged else (low,):
        reason = _bad_value(field, end)
        if reason is not None:
            return reason
    if numbered and ranged:
        return Rule("cron_number_after_range")
    if numbered:
        return Rule("cron_number_range")
    begin, end = _bounds(field)
    return Rule("cron_range_backwards", begin=begin, high=high, low=low, end=end)


def _bad_value(field: Field, value: str) -> Rule | None:
    symbols = _SYMBOLS.get(field, [])
    if value in symbols:
        return None
    if value.isdigit():
        numbers = RANGES[field]
        if int(value) in numbers:
            return None
        return Rule("cron_not_among", value=value, first=numbers.start, last=numbers.stop - 1)
    near = nearest(value, symbols, n=1, cutoff=0.5)
    if near:
        return Rule("cron_unknown_name", name=repr(value[:_SHOWN]), nearest=near[0])
    if symbols and value.isalpha():
        return Rule("cron_unknown_name", name=repr(value[:_SHOWN]))
    return Rule("cron_not_a_number") if value else Rule("cron_value_missing")


def _bounds(field: Field) -> tuple[str, str]:
    symbols = _SYMBOLS.get(field) or [str(number) for number in RANGES[field]]
    return symbols[0], symbols[-1]
