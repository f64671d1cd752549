"""CPU time of requests, whoever sends them: in proportion to their length."""

from __future__ import annotations

import time

import pytest
from starlette.requests import Request

from hanbeon.errors import InvalidInput
from hanbeon.server.auth import LOCAL, session_cookie
from hanbeon.server.request import ApiRequest, NoFields


def test_many_parameters_cost_no_more_than_their_number() -> None:
    """To look up each name among all would cost the square: a URL of 60 kB stopped a server for ten seconds."""

    def took(count: int) -> float:
        request = Request(
            {"type": "http", "headers": [], "query_string": "&".join(f"n{i}=" for i in range(count)).encode()}
        )
        began = time.process_time()
        with pytest.raises(InvalidInput, match="unknown field"):
            ApiRequest(request, LOCAL).query(NoFields)
        return time.process_time() - began

    assert took(16_000) < 0.05 + 30 * min(took(2_000) for _ in range(3))


def test_cookie_costs_no_more_than_its_length() -> None:
    """It is read before anybody is authenticated. Python 3.11.7 decodes quoted ones in the square of their length."""
    for cookie in ('hanbeon_session="' + '\\"' * 30_000 + '"', "a=" * 30_000, ";" * 60_000, "hanbeon_session=" * 4_000):
        request = Request({"type": "http", "headers": [(b"cookie", cookie.encode())]})
        began = time.process_time()
        assert session_cookie(request) is None
        assert time.process_time() - began < 1.0, cookie[:20]


@pytest.mark.parametrize(
    ("cookies", "expected"),
    [
        (["hanbeon_session=abc"], "abc"),
        (["x=1; hanbeon_session=abc;y=2"], "abc"),
        (["hanbeon_session=a; hanbeon_session = b "], "b"),
        (["x=1", "hanbeon_session=abc"], "abc"),
        (["hanbeon_session=; x"], None),
        (["hanbeon_session"], None),
        (["xhanbeon_session=abc", "=;;"], None),
        ([], None),
    ],
)
def test_session_cookie_is_found_among_others(cookies: list[str], expected: str | None) -> None:
    request = Request({"type": "http", "headers": [(b"cookie", each.encode()) for each in cookies]})
    assert session_cookie(request) == expected
