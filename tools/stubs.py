"""Stubs of what is derived from the surfaces: their services, errors and settings, and blocking twins of coroutines."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

from hanbeon.app import App
from hanbeon.errors import all_errors
from hanbeon.job import Job
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.surface import Surface, load
from hanbeon.sync.services import derived
from tools.keywords import formatted

PATH = Path(__file__).parents[1] / "src/hanbeon/sync/services.pyi"
_HEAD = '''"""Generated from the services of the surfaces by `make docs`."""

from collections.abc import Callable
from typing import Any

from hanbeon.surfaces.surface import Surface
from hanbeon.sync.background import Background
'''
INSTALLATION = PATH.parents[1] / "surfaces/installation.pyi"
_INSTALLATION_HEAD = '''"""Generated from the registry of the surfaces by `make docs`."""

import abc
from typing import Any

from hanbeon.surfaces.surface import Surface
'''
ERRORS = PATH.parents[1] / "surface_errors.pyi"
_ERRORS_HEAD = '"""Errors of the surfaces, as `hanbeon.errors` has them. Generated from the registry."""\n\n'
SETTINGS = PATH.parents[1] / "surface_settings.pyi"
_SETTINGS_HEAD = '"""Settings of the surfaces, as `hanbeon.settings` has them. Generated from the registry."""\n\n'
_PER_SURFACE = ("keywords", "schemas")
_BASE = """
OWN: dict[type, frozenset[str]]

def derived(kind: type) -> dict[str, Callable[..., Any]]: ...

class SyncService:
    def __init__(self, background: Background, name: str) -> None: ...

def blocking_methods(surface: Surface) -> dict[str, Callable[..., Any]]: ...
"""


def sync_services() -> str:
    """The text of the stub."""
    imports: dict[str, str] = {}
    body = "".join(_class(surface, imports) for surface in SURFACES)
    body += _twin(App, "BlockingApp", imports, _app_attributes()) + _twin(Job, "BlockingJob", imports, _JOB_ATTRIBUTES)
    imports["SyncJob"] = "from hanbeon.sync.job import SyncJob"
    used = {
        node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    lines = sorted({line for name, line in imports.items() if name in used})
    return formatted(_HEAD + "\n".join(lines) + "\n" + _BASE + body, PATH)


def surface_errors() -> str:
    """The text of the stub: what `hanbeon.errors` finds when it is asked for."""
    lines = [
        f"from {each.__module__} import {each.__name__} as {each.__name__}"
        for each in sorted(all_errors(), key=lambda each: (each.__module__, each.__name__))
        if each.__module__.startswith("hanbeon.surfaces.")
    ]
    return formatted(_ERRORS_HEAD + "\n".join(lines) + "\n", ERRORS)


def surface_settings() -> str:
    """The text of the stub: a base with the fields that `Settings` finds when they are asked for."""
    names = [each.settings.split(":") for each in SURFACES if each.settings]
    lines = [f"from {module} import {name}" for module, name in sorted(names)]
    bases = ", ".join(name for _, name in names)
    return formatted(_SETTINGS_HEAD + "\n".join(lines) + f"\n\nclass SurfaceSettings({bases}): ...\n", SETTINGS)


class Renamed(ast.NodeTransformer):
    """Gives modules that every surface has, such as `schemas`, a name that says whose they are."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        for alias in node.names:
            if alias.asname is None and alias.name in self._names:
                alias.asname = self._names[alias.name]
        return node


def _class(surface: Surface, imports: dict[str, str]) -> str:
    service = load(surface.service)
    methods = []
    for kind in reversed(service.__mro__):
        if kind.__module__.startswith("hanbeon.surfaces.") and kind.__module__ != "hanbeon.surfaces.service":
            tree = ast.parse(inspect.getsource(inspect.getmodule(kind)))  # type: ignore[arg-type]  # it has one
            own = {name: f"{surface.name}_{name}" for name in _PER_SURFACE}
            tree = Renamed(own).visit(tree)
            imports.update(_imports(tree, kind.__module__))
            served = {channel.call for channel in surface.channels}
            methods += [_method(node) for node in _coroutines(tree, kind.__name__) if node.name not in served]
    head = f'class Sync{service.__name__}(SyncService):\n    """`app.{surface.name}`, blocking."""'
    return f"\n\n{head}\n\n" + "\n".join(methods)


_JOB_ATTRIBUTES = "    _background: Background\n    id: str\n    _task: Any\n"


def _app_attributes() -> str:
    services = [f"    {each.name}: Sync{each.service.rpartition(':')[2]}\n" for each in SURFACES]
    return "    _background: Background\n" + "".join(services)


def _twin(kind: type, name: str, imports: dict[str, str], attributes: str) -> str:
    """A class with the coroutines of another, blocking, which takes and returns blocking jobs."""
    tree = Renamed({"Job": "SyncJob"}).visit(ast.parse(inspect.getsource(inspect.getmodule(kind))))  # type: ignore[arg-type]  # it has one
    imports.update(_imports(tree, kind.__module__))
    wanted = derived(kind)
    methods = [_method(node) for node in _coroutines(tree, kind.__name__) if node.name in wanted]
    return f"\n\nclass {name}:\n{attributes}\n" + "\n".join(methods)


def _coroutines(tree: ast.Module, name: str) -> Iterator[ast.AsyncFunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            for each in node.body:
                generator = any(isinstance(part, ast.Yield) for part in ast.walk(each))
                if isinstance(each, ast.AsyncFunctionDef) and not each.name.startswith("_") and not generator:
                    yield each


def _method(node: ast.AsyncFunctionDef) -> str:
    """The signature and the docstring; defaults stay, so that a reader sees them."""
    returns = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    return f"    def {node.name}({ast.unparse(node.args)}){returns}: ...\n"


def _imports(tree: ast.Module, module: str) -> Iterator[tuple[str, str]]:
    """Every name that a module binds by importing or defining it, and the line that imports it elsewhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            for alias in node.names:
                bound = alias.asname or alias.name
                yield bound, f"from {node.module} import {alias.name}" + (f" as {bound}" if alias.asname else "")
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield (
                    (alias.asname or alias.name).partition(".")[0],
                    f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else ""),
                )
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, f"from {module} import {target.id}"


def installation() -> str:
    """The text of the stub of `Installation`: its module, with an attribute for each surface."""
    services = [(each.name, *each.service.split(":")) for each in SURFACES]
    tree = ast.parse(INSTALLATION.with_suffix(".py").read_text())
    (kind,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    kind.body = [ast.parse(f"{name}: {service}").body[0] for name, _, service in services] + [
        _declared(node) for node in kind.body if not isinstance(node, ast.Expr)
    ]
    tree.body = [node for node in tree.body if not isinstance(node, ast.ImportFrom | ast.Import | ast.Expr)]
    imports = [f"from {module} import {service}" for _, module, service in services]
    return formatted("\n".join([_INSTALLATION_HEAD, *imports, "", ast.unparse(tree)]), INSTALLATION)


def _declared(node: ast.stmt) -> ast.stmt:
    """A function or an attribute without its body or value."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        node.body = [ast.Expr(ast.Constant(...))]
    elif isinstance(node, ast.AnnAssign):
        node.value = None
    return node


if __name__ == "__main__":
    INSTALLATION.write_text(installation())
    ERRORS.write_text(surface_errors())
    SETTINGS.write_text(surface_settings())
    PATH.write_text(sync_services())
