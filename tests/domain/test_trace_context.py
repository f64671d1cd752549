"""Trace contexts of headers: the valid ones are kept, everything else is ignored."""

import pytest

from hanbeon.domain.trace_context import STATE_LIMIT, current_trace, parse, parse_text, working_for

_TRACE, _SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
_VALID = f"00-{_TRACE}-{_SPAN}-01"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (_VALID, _VALID),
        (f" {_VALID}\t", _VALID),
        (f"00-{_TRACE}-{_SPAN}-ff", _VALID),
        (f"00-{_TRACE}-{_SPAN}-00", f"00-{_TRACE}-{_SPAN}-00"),
        (f"cc-{_TRACE}-{_SPAN}-01-what-comes-later", _VALID),
    ],
)
def test_valid_parent_is_kept(given: str, kept: str) -> None:
    found = parse(given)
    assert found is not None
    assert found.traceparent == kept
    assert parse_text(found.text) == found


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "00",
        f"ff-{_TRACE}-{_SPAN}-01",
        f"00-{_TRACE}-{_SPAN}-01-more",
        f"00-{'0' * 32}-{_SPAN}-01",
        f"00-{_TRACE}-{'0' * 16}-01",
        f"00-{_TRACE.upper()}-{_SPAN}-01",
        f"{_VALID},{_VALID}",
        f"{_VALID}\n",
        f"{_VALID}\x00",
        f"cc-{_TRACE}-{_SPAN}-01-{'x' * 10_000}",
        f"00-{_TRACE[:-1]}٣-{_SPAN}-01",
    ],
)
def test_invalid_parent_is_ignored(given: str | None) -> None:
    assert parse(given, "a=b") is None


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("rojo=00f067, congo=t61", "rojo=00f067,congo=t61"),
        ("tenant@vendor=1,,", "tenant@vendor=1"),
        ("a=b,a=c", ""),
        ("A=b", ""),
        ("a=b\nc", ""),
        ("a=b=c", ""),
        ("a=한", ""),
        ("a", ""),
        (",".join(f"k{number}=1" for number in range(33)), ""),
        ("a=" + "x" * STATE_LIMIT, ""),
    ],
)
def test_state_is_bounded_and_valid_or_dropped(given: str, kept: str) -> None:
    found = parse(_VALID, given)
    assert found is not None
    assert found.tracestate == kept
    assert parse_text(found.text) == found


def test_current_trace_is_that_of_the_block() -> None:
    assert current_trace() is None
    with working_for(parse(_VALID)):
        assert current_trace() == parse(_VALID)
    assert current_trace() is None
