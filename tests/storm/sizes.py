"""Size of the runs: a tenth in `make test`, all in `make test-slow`, long where HANBEON_CHAOS=long asks for it."""

from __future__ import annotations

import os

import pytest

FACTOR = 10 if os.environ.get("HANBEON_CHAOS") == "long" else 1
TIMEOUT = 300 * FACTOR


both_sizes = pytest.mark.parametrize(
    "share",
    [pytest.param(0.1, id="short", marks=pytest.mark.short), pytest.param(1.0, id="full", marks=pytest.mark.slow)],
)
"""Run a scenario twice: a short case that is for `make test` alone, and the full one of `make test-slow`."""


def short_on(store: str) -> pytest.MarkDecorator:
    """Like `both_sizes`, where the full case runs on each store and the short one on this one alone."""
    return pytest.mark.parametrize(
        ("database_url", "share"),
        [
            pytest.param(store, 0.1, id=f"{store}-short", marks=pytest.mark.short),
            *(pytest.param(each, 1.0, id=f"{each}-full", marks=pytest.mark.slow) for each in ("sqlite", "postgres")),
        ],
        indirect=["database_url"],
    )


def sized(count: int) -> int:
    return count * FACTOR


def part(count: int, share: float, least: int = 1) -> int:
    """Return that share of a count, rounded, and `least` if it would be fewer."""
    return max(least, round(count * share))
