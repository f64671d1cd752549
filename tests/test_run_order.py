"""The order of a run: the longest tests first, spread over the workers; and the lists of tests."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests import further_stores
from tests.run_order import LIST, arrange, listed

_TESTS = Path(__file__).parent
_SECONDS = listed(LIST.read_text().splitlines())


def test_long_tests_come_first_in_the_share_of_each_worker() -> None:
    cost = {"a": 9.0, "b": 8.0, "c": 5.0, "d": 4.0}
    tests = [*"1234", "a", "c", *"5678", "d", "b"]
    assert arrange(tests, lambda test: cost.get(test, 0.0), 2) == [*"ad1234", *"bc5678"]


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 8, 20])
def test_no_test_is_lost(workers: int) -> None:
    tests = list(range(13))
    assert sorted(arrange(tests, lambda test: test % 3, workers)) == tests
    assert arrange(tests, lambda test: 0.0, workers) == tests


@pytest.mark.parametrize("names", [_SECONDS, further_stores.MODULES, further_stores.ONE_STORE, further_stores.TESTS])
def test_listed_tests_exist(names: Iterable[str]) -> None:
    for name in names:
        path, _, test = name.partition("[")[0].partition("::")
        assert f"def {test}" in (_TESTS / path).read_text(), name
