"""Every promise names tests, and those tests exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from hanbeon.surfaces.registry import SURFACES
from tests.docs.markdown import ROOT
from tools.docs.promises import DECISIONS, promises

_PROMISES = promises()
_UNTESTABLE = {"Not guaranteed"}
"""Headings of docs/guarantees.md that promise nothing."""


@cache
def _tests(path: Path) -> set[str]:
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, functions)}


@pytest.mark.parametrize("section", _PROMISES)
def test_each_promise_names_existing_tests(section: str) -> None:
    for promise, tests in _PROMISES[section].items():
        assert tests, promise
        assert len(set(tests)) == len(tests), promise
        for test in tests:
            path, _, name = test.partition("::")
            assert (ROOT / path).exists(), test
            assert name in _tests(ROOT / path), test


def test_every_guarantee_surface_and_decision_is_promised() -> None:
    guarantees = re.findall(r"^## (.*)$", (ROOT / "docs" / "guarantees.md").read_text(), re.MULTILINE)
    records = {path.name[:4] for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md")}
    assert (set(guarantees) - _UNTESTABLE) | {surface.name for surface in SURFACES} <= _PROMISES.keys()
    assert _PROMISES[DECISIONS].keys() == records
