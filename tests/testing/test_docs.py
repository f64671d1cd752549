"""The example of docs/testing.md is a test module; here it runs as one."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hanbeon.testing import TestKit
from tests.docs.markdown import ROOT, blocks, name

PAGE = ROOT / "docs" / "testing.md"


def example() -> dict[str, Any]:
    (block,) = [block for block in blocks(PAGE) if block.language == "python"]
    scope: dict[str, Any] = {}
    exec(compile(block.text, name(PAGE), "exec"), scope)
    return scope


TESTS = {word: found for word, found in example().items() if word.startswith("test_")}


@pytest.mark.parametrize("word", TESTS)
async def test_the_example_passes(word: str) -> None:
    test: Callable[[], Awaitable[None]] = TESTS[word]
    await test()


def test_every_method_of_the_kit_is_described_and_no_other() -> None:
    described = {row.split("`")[1] for row in PAGE.read_text().splitlines() if row.startswith("| `")}
    methods = {word for word in vars(TestKit) if not word.startswith("_")}
    assert methods == {word for each in described for word in _methods(each)} | {"worker"}


def _methods(cell: str) -> list[str]:
    return [cell.removeprefix("await kit.").split("(")[0]] if cell.startswith("await kit.") else []
