"""Rename modules, classes, functions and SQL statements over the whole tree: `python -m tools.rename`.

Goes by `tools/rename/table.toml` and may be run any number of times, also on a branch that was begun before the
renaming: what already has its new name is left alone. Imports are read, not guessed, so that a name is changed only
where it means the thing that was renamed. Run `make fmt` afterwards: the order of imports changes with their names.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
import tomllib
from pathlib import Path
from typing import NamedTuple

_TEXTS = {".py", ".md", ".toml", ".sql", ".txt", ".in", ".yml", ".cfg", ""}
_ROOTS = {"hanbeon": "src/hanbeon", "tests": "tests", "bench": "bench", "tools": "tools", "examples": "examples"}
_SKIPPED = ("tools/rename/", "CHANGELOG.md")


class Table(NamedTuple):
    modules: dict[str, str]
    """Dotted names of modules and packages, old to new."""
    symbols: dict[tuple[str, str], str]
    """(old module, old name) → new name, of classes, functions and constants."""
    statements: dict[str, str]
    """Names of files in `store/sql/`."""
    tokens: dict[str, str]
    """Identifiers that mean one thing wherever they stand: attributes, methods, parameters."""
    tokens_in: dict[str, dict[str, str]]
    """The same, of files whose path begins so."""
    words: dict[str, str]
    """Text, replaced as it stands."""


def read_table(path: Path) -> Table:
    raw = tomllib.loads(path.read_text())
    symbols = {(module, old): new for module, names in raw.get("symbols", {}).items() for old, new in names.items()}
    return Table(raw["modules"], symbols, raw["statements"], raw["tokens"], raw["tokens_in"], raw["words"])


def main() -> None:
    top = Path(__file__).parents[2]
    table = read_table(Path(__file__).with_name("table.toml"))
    _move_files(top, table)
    for name in _tracked(top):
        path = top / name
        if name.startswith(_SKIPPED) or path.suffix not in _TEXTS or not path.is_file() or path.is_symlink():
            continue
        before = path.read_text()
        after = _text(_python(before, name, table) if path.suffix == ".py" else before, table)
        if after != before:
            path.write_text(after)


def _tracked(top: Path) -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    return subprocess.run(command, cwd=top, check=True, capture_output=True, text=True).stdout.splitlines()


# Files


def _move_files(top: Path, table: Table) -> None:
    for old, new in table.modules.items():
        for suffix in ("", ".py"):
            source, target = top / (_path(old) + suffix), top / (_path(new) + suffix)
            if source.is_dir() if not suffix else source.is_file():
                _git_move(top, source, target)
    for old, new in table.statements.items():
        for source in (top / "src/hanbeon/store/sql").rglob(f"{old}.sql"):
            _git_move(top, source, source.with_name(f"{new}.sql"))


def _git_move(top: Path, source: Path, target: Path) -> None:
    if source.is_dir():
        # Part of a package may be there already, on a branch that has added files to either name.
        for each in sorted(source.rglob("*")):
            if each.is_file() and "__pycache__" not in each.parts:
                _git_move(top, each, target / each.relative_to(source))
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "mv", str(source), str(target)], cwd=top, check=True)


def _path(dotted: str) -> str:
    root, _, rest = dotted.partition(".")
    return "/".join([_ROOTS[root], *rest.split(".")]) if rest else _ROOTS[root]


def _module_of(path: str) -> str:
    for root, folder in _ROOTS.items():
        if path.startswith(f"{folder}/"):
            return f"{root}.{path.removeprefix(folder + '/').removesuffix('.py').replace('/', '.')}".removesuffix(
                ".__init__"
            )
    return path


# Python


def _renamed(module: str, table: Table) -> str:
    """The new dotted name, by the longest entry that is a prefix of it; entries may build on each other."""
    for _ in range(4):
        parts = module.split(".")
        for size in range(len(parts), 0, -1):
            if ".".join(parts[:size]) in table.modules:
                module = ".".join([table.modules[".".join(parts[:size])], *parts[size:]])
                break
        else:
            return module
    return module


def _python(text: str, path: str, table: Table) -> str:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    here = _module_of(path)
    symbols = {(_renamed(module, table), old): new for (module, old), new in table.symbols.items()}
    names = {old: new for (module, old), new in symbols.items() if module == here}
    modules: dict[str, str] = {}
    edits: list[tuple[int, int, str]] = []
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            changed = _import_from(node, symbols, names, modules, table)
            if changed is not None and node.end_lineno is not None and node.end_col_offset is not None:
                start = starts[node.lineno - 1] + node.col_offset
                end = starts[node.end_lineno - 1] + node.end_col_offset
                joined = f"\n{' ' * node.col_offset}".join(changed)
                edits.append((start, end, joined))
    data = text.encode()
    for start, end, new in sorted(edits, reverse=True):
        data = data[:start] + new.encode() + data[end:]
    by_module: dict[str, dict[str, str]] = {}
    for local, module in modules.items():
        by_module[local] = {old: new for (owner, old), new in symbols.items() if owner == module}
    moved = {old: new for old, new in _local_modules(tree, table).items() if old != new}
    if not path.startswith(("src/hanbeon/store/", "tests/store/")):
        table = table._replace(statements={})  # Elsewhere the same text is something else.
    for folder, tokens in table.tokens_in.items():
        if path.startswith(folder):
            table = table._replace(tokens={**table.tokens, **tokens})
    return _tokens(data.decode(), names, by_module, moved, table)


def _import_from(
    node: ast.ImportFrom,
    symbols: dict[tuple[str, str], str],
    names: dict[str, str],
    modules: dict[str, str],
    table: Table,
) -> list[str] | None:
    """The statement anew, and what it binds here; None if it stays."""
    module = node.module or ""
    groups: dict[str, list[str]] = {}
    changed = False
    for alias in node.names:
        full = f"{module}.{alias.name}"
        after = _renamed(full, table)
        is_module = after != f"{_renamed(module, table)}.{alias.name}" or _is_module(after)
        if is_module:
            package, _, last = after.rpartition(".")
            modules[alias.asname or last] = after
        else:
            package = _renamed(module, table)
            last = symbols.get((package, alias.name), alias.name)
            if alias.asname is None and last != alias.name:
                names[alias.name] = last
        changed = changed or package != module or last != alias.name
        groups.setdefault(package, []).append(last if alias.asname is None else f"{last} as {alias.asname}")
    return [f"from {package} import {', '.join(found)}" for package, found in groups.items()] if changed else None


def _is_module(dotted: str) -> bool:
    path = Path(__file__).parents[2] / _path(dotted) if dotted.split(".")[0] in _ROOTS else Path("/nonexistent")
    return path.with_suffix(".py").is_file() or path.is_dir()


def _local_modules(tree: ast.Module, table: Table) -> dict[str, str]:
    """Local names of imported modules, old to new."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                after = _renamed(full, table)
                if alias.asname is None and after != f"{_renamed(node.module, table)}.{alias.name}":
                    found[alias.name] = after.rpartition(".")[2]
    return found


def _tokens(
    text: str,
    names: dict[str, str],
    by_module: dict[str, dict[str, str]],
    moved: dict[str, str],
    table: Table,
) -> str:
    """Names renamed token by token, so that neither a string nor a part of a longer name is hit."""
    out: list[tuple[int, int, str]] = []
    before: list[tokenize.TokenInfo] = []
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for number, token in enumerate(tokens):
        following = tokens[number + 1].string if number + 1 < len(tokens) else ""
        if token.type == tokenize.NAME:
            after_dot = bool(before) and before[-1].string == "."
            owner = before[-2].string if after_dot and len(before) > 1 else ""
            nested = after_dot and len(before) > 2 and before[-3].string == "."
            new = token.string
            if not after_dot and token.string in names:
                new = names[token.string]
            elif not after_dot and token.string in moved and not (following == "=" and before[-1].string in "(,"):
                # Also a local variable of that name, so that what hides what stays as it was.
                new = moved[token.string]
            elif after_dot and not nested:
                new = by_module.get(moved.get(owner, owner), {}).get(token.string, new)
            new = table.tokens.get(new, new)
            if new != token.string:
                out.append((starts[token.start[0] - 1] + token.start[1], len(token.string), new))
        elif token.type == tokenize.STRING and token.string[1:-1] in names and token.string[1:2].isupper():
            # A forward reference.
            quoted = f"{token.string[0]}{names[token.string[1:-1]]}{token.string[-1]}"
            out.append((starts[token.start[0] - 1] + token.start[1], len(token.string), quoted))
        elif token.type == tokenize.STRING and token.string[1:-1] in table.statements:
            quoted = f"{token.string[0]}{table.statements[token.string[1:-1]]}{token.string[-1]}"
            out.append((starts[token.start[0] - 1] + token.start[1], len(token.string), quoted))
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before.append(token)
    for start, size, new in sorted(out, reverse=True):
        text = text[:start] + new + text[start + size :]
    return text


# Text


def _text(text: str, table: Table) -> str:
    for old in sorted(table.modules, key=len, reverse=True):
        new = table.modules[old]
        text = re.sub(rf"(?<![\w.]){re.escape(old)}(?![\w])", new, text)
        for prefix in ("src/hanbeon/", "hanbeon/", ""):
            # `server/admission.py` in prose; a bare name of one part would hit too much.
            before, after = _path(old), _path(new)
            if before.startswith("src/hanbeon/"):
                before = prefix + before.removeprefix("src/hanbeon/")
                after = prefix + after.removeprefix("src/hanbeon/")
            if "/" in before:
                text = re.sub(rf"(?<![\w/.-]){re.escape(before)}(?=\.py\b|/|`)", after, text)
    for old in sorted(table.words, key=len, reverse=True):
        text = (
            text.replace(old, table.words[old])
            if not old.isidentifier()
            else re.sub(rf"(?<![\w-]){old}(?![\w-])", table.words[old], text)
        )
    return text


if __name__ == "__main__":
    main()
