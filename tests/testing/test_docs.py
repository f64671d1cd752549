"""The examples of docs/testing.md are test modules; here they run as such."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hanbeon.testing import TestKit
from tests.docs.markdown import ROOT, blocks, name

PAGE = ROOT / "docs" / "testing.md"


def _tests(place: int) -> dict[str, Any]:
    """Return the tests of an example."""
    block = [block for block in blocks(PAGE) if block.language == "python"][place]
    scope: dict[str, Any] = {}
    exec(compile(block.text, name(PAGE), "exec"), scope)
    return {word: found for word, found in scope.items() if word.startswith("test_")}


KIT, SIMULATION = _tests(0), _tests(1) | _tests(2)


@pytest.mark.parametrize("word", KIT)
async def test_the_example_of_the_kit_passes(word: str) -> None:
    test: Callable[[], Awaitable[None]] = KIT[word]
    await test()


@pytest.mark.parametrize("word", SIMULATION)
def test_the_example_of_the_simulation_passes(word: str) -> None:
    SIMULATION[word]()


def test_every_method_of_the_kit_is_described_and_no_other() -> None:
    described = {row.split("`")[1] for row in PAGE.read_text().splitlines() if row.startswith("| `")}
    methods = {word for word in vars(TestKit) if not word.startswith("_")}
    assert methods == {word for each in described for word in _methods(each)} | {"worker"}


def _methods(cell: str) -> list[str]:
    return [cell.removeprefix("await kit.").split("(")[0]] if cell.startswith("await kit.") else []
