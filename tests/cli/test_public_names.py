"""The public names: declared, listed and importable names agree."""

import ast
from pathlib import Path

import hanbeon


def test_the_lazy_names_are_the_declared_ones() -> None:
    declared = {
        name.name: node.module
        for node in ast.walk(ast.parse(Path(hanbeon.__file__).read_text()))
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("hanbeon.")
        for name in node.names
    }
    assert {name: f"hanbeon.{home}" for name, home in hanbeon._HOMES.items()} == declared
    assert hanbeon.__all__ == sorted(declared)
    assert all(getattr(hanbeon, name).__module__ == declared[name] for name in hanbeon.__all__)
    assert set(hanbeon.__all__) <= set(dir(hanbeon))


def test_another_name_is_an_attribute_error() -> None:
    assert not hasattr(hanbeon, "Scheduler")
