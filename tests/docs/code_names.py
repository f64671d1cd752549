"""Names that a file of the repository defines: of Python, SQL and TypeScript."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_SQL = re.compile(r"^-- name: (\w+)|^CREATE TABLE hanbeon\.(\w+)", re.MULTILINE)
_SCRIPT = re.compile(r"^export (?:async )?(?:const|function|class|type|interface) (\w+)", re.MULTILINE)


def defined(path: Path) -> set[str]:
    """Return the sections and tables of SQL, the exports of TypeScript, everything that Python binds."""
    if path.suffix == ".py":
        return set(_bound(path))
    patterns = _SQL if path.suffix == ".sql" else _SCRIPT
    return {name for match in patterns.finditer(path.read_text()) for name in match.groups() if name}


def _bound(path: Path) -> Iterator[str]:
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
