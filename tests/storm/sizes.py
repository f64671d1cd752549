"""Size of the storms: a tenth in `make test`, all in `make test-slow`, long where HANBEON_CHAOS=long asks for it."""

from __future__ import annotations

import os

import pytest

LONG = os.environ.get("HANBEON_CHAOS") == "long"
SEEDS = [int(seed) for seed in os.environ.get("HANBEON_CHAOS_SEED", "1,2,3" if LONG else "1").split(",")]
TIMEOUT = 3000 if LONG else 600
SLACK = 1.0 if LONG else 20.0
"""How much later than promised something may be seen: a second where the run is meant for a quiet machine."""
_FACTOR = 10


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


def sized(usual: int, long: int | None = None) -> int:
    """Return the usual size or the long one, which is ten times as much unless it is given."""
    return (usual * _FACTOR if long is None else long) if LONG else usual


def part(count: int, share: float, least: int = 1) -> int:
    """Return that share of a count, rounded, and `least` if it would be fewer."""
    return max(least, round(count * share))
