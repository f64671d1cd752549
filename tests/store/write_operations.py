"""The operations of the store that write, found in its source: so that none can be forgotten by a test of all."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import hanbeon
from hanbeon.store.dialect import Postgres, Sqlite
from hanbeon.store.statements import names, statement

_WRITES = re.compile(r"\b(INSERT INTO|UPDATE hanbeon|DELETE FROM)\b")
_PACKAGE = Path(hanbeon.__file__).parent
_FOLDERS = (_PACKAGE / "store/operations", *(each.parent for each in _PACKAGE.glob("*/*/statements.sql")))
_FILES = frozenset(str(path) for folder in _FOLDERS for path in folder.glob("*.py"))


def operation_name(file: str, function: str) -> str | None:
    """Return the name of an operation of the engine (`module.function`), a fast path or a surface; None of others."""
    if file not in _FILES:
        return None
    path = Path(file)
    return f"{'' if path.parent == _FOLDERS[0] else f'{path.parent.name}.'}{path.stem}.{function}"


def writing_statements() -> set[str]:
    """Names of the statements that write, on either store."""
    return {
        name for dialect in (Postgres, Sqlite) for name in names(dialect) if _WRITES.search(statement(name, dialect))
    }


def writing_operations() -> set[str]:
    """Names of the functions that write in a transaction, directly or through others."""
    writes = writing_statements()
    takes: dict[str, str] = {}
    calls: dict[str, set[str]] = {}
    found: set[str] = set()
    for file in _FILES:
        for node in ast.parse(Path(file).read_text()).body:
            if isinstance(node, ast.AsyncFunctionDef) and _takes_transaction(node):
                name = str(operation_name(file, node.name))
                takes[name] = node.name
                calls[name] = _called(node)
                if _texts(node) & writes or "emit" in _methods(node):
                    found.add(name)
    while True:
        known = {takes[name] for name in found}
        more = {name for name in takes.keys() - found if calls[name] & known}
        if not more:
            return found
        found |= more


def _takes_transaction(node: ast.AsyncFunctionDef) -> bool:
    arguments = node.args.args
    return bool(arguments) and isinstance(arguments[0].annotation, ast.Name) and arguments[0].annotation.id == "Tx"


def _called(node: ast.AST) -> set[str]:
    """Names of the functions that are given the transaction."""
    return {
        each.func.id
        for each in ast.walk(node)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.args
        if isinstance(each.args[0], ast.Name) and each.args[0].id == "tx"
    }


def _texts(node: ast.AST) -> set[str]:
    return {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)}


def _methods(node: ast.AST) -> set[str]:
    """Names of the transaction's own methods that are called."""
    return {
        each.func.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and isinstance(each.func.value, ast.Name)
        if each.func.value.id == "tx"
    }
