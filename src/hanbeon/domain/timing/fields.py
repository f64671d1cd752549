"""The fields of a cron expression: their valid values, and the reason why a term is invalid."""

from __future__ import annotations

import re

from cronsim import CronSimError
from cronsim.cronsim import RANGES, SYMBOLIC_DAYS, SYMBOLIC_MONTHS, Field

from hanbeon.errors import InvalidInput
from hanbeon.quotation import nearest

NAMES: dict[Field, str] = {
    Field.SECOND: "second",
    Field.MINUTE: "minute",
    Field.HOUR: "hour",
    Field.DAY: "day of month",
    Field.MONTH: "month",
    Field.DOW: "weekday",
}
_EXAMPLES: dict[Field, str] = {
    Field.SECOND: "0–59, for example 0, */15 or 0,30",
    Field.MINUTE: "0–59, for example 0, */15 or 0,30",
    Field.HOUR: "0–23, for example 9, 9-17 or */2",
    Field.DAY: "1–31, for example 1, 1,15, L (the last day) or LW (the last Monday to Friday)",
    Field.MONTH: "1–12 or JAN–DEC, for example 1,7 or MAR-MAY",
    Field.DOW: "0–7 or SUN–SAT, for example MON-FRI, FRI#2 (the second Friday) or 5L (the last Friday)",
}
_SYMBOLS: dict[Field, list[str]] = {Field.MONTH: SYMBOLIC_MONTHS, Field.DOW: SYMBOLIC_DAYS}
_SHOWN = 40


def check_field(field: Field, part: str) -> None:
    """Raise for the first invalid term of a field, with the reason and a valid example."""
    for term in part.split(","):
        reason = _reason(field, term)
        if reason is not None:
            raise InvalidInput(
                f"{NAMES[field]} must be {_EXAMPLES[field]}, got {term[:_SHOWN]!r}: {reason}", field="cron"
            )


def plain(field: Field, part: str) -> str:
    """Rewrite a valid field so that the library reads it correctly: it takes 5-5/2 for 5/2, without an upper bound."""
    return ",".join(_plain_term(field, term) for term in part.split(","))


def _plain_term(field: Field, term: str) -> str:
    start, stepped, _ = term.partition("/")
    if not stepped or "-" not in start:
        return term
    values = field.parse(start)
    return str(min(values)) if len(values) == 1 else term


def _reason(field: Field, term: str) -> str | None:
    """Return why a term is invalid, or None if it is valid."""
    if not term:
        return "a term is empty"
    if "?" in term:
        return "? must be the whole field, for a day of month or a weekday"
    if "/" in term:
        return _bad_step(field, *term.split("/", maxsplit=1))
    return _refused(field, term)


def _bad_step(field: Field, start: str, step: str) -> str | None:
    # The library takes L/2 for L and */90 for */60, which cannot be what the user meant.
    if re.fullmatch(r"\d*\.\d+", step):
        return "the shortest interval is one second, and steps are integers"
    if not step.isdigit():
        return f"the step {step[:_SHOWN]!r} is not an integer"
    if int(step) == 0:
        return "a step of 0 never advances"
    if ("L" in start and field in (Field.DAY, Field.DOW)) or "#" in start:
        return "a step needs *, a number or a range before it"
    many = 7 if field is Field.DOW else len(RANGES[field])
    if int(step) > many:
        return f"a step of {step} is longer than the {many} values of the field, so it would have no effect"
    return _refused(field, start)


def _refused(field: Field, term: str) -> str | None:
    try:
        field.parse(term)
    except CronSimError:
        return _why(field, term)
    return None


def _why(field: Field, term: str) -> str:
    """Return the most specific reason for a term that the library rejects."""
    base, numbered, _ = term.partition("#")
    if numbered and field is not Field.DOW:
        return "# belongs to a weekday"
    if field is Field.DOW and re.fullmatch(r"[A-Z]{3}L", term) and term[:3] in SYMBOLIC_DAYS:
        return f"the last {term[:3]} is written {SYMBOLIC_DAYS.index(term[:3])}L"
    if term in ("L", "W", "LW") or re.fullmatch(r"\d+[LW]|L-\d+", term):
        return f"{term[:_SHOWN]} has no meaning in this field"
    low, ranged, high = base.partition("-")
    for end in (low, high) if ranged else (low,):
        reason = _bad_value(field, end)
        if reason is not None:
            return reason
    if numbered and ranged:
        return "# must follow a single weekday"
    if numbered:
        return "# must be followed by 1 to 5, the week of the month"
    begin, end = _bounds(field)
    return f"the range ends before it begins (for one that wraps around, write {begin}-{high},{low}-{end})"


def _bad_value(field: Field, value: str) -> str | None:
    symbols = _SYMBOLS.get(field, [])
    if value in symbols:
        return None
    if value.isdigit():
        numbers = RANGES[field]
        return None if int(value) in numbers else f"{value} is not among {numbers.start}–{numbers.stop - 1}"
    near = nearest(value, symbols, n=1, cutoff=0.5)
    if near:
        return f"unknown name {value[:_SHOWN]!r} (did you mean {near[0]}?)"
    if symbols and value.isalpha():
        return f"unknown name {value[:_SHOWN]!r}"
    return "it is not a number" if value else "a value is missing"


def _bounds(field: Field) -> tuple[str, str]:
    symbols = _SYMBOLS.get(field) or [str(number) for number in RANGES[field]]
    return symbols[0], symbols[-1]
