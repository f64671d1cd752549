"""Resolves `module:name`, on Python's path or next to the file that names it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted, suggested
from hanbeon.rule import Rule

T = TypeVar("T")


def split_target(target: Any, field: str, example: str) -> tuple[str, str]:
    """Return the module and the name in it."""
    module, colon, name = target.partition(":") if isinstance(target, str) else ("", "", "")
    if not (module and colon and name):
        raise InvalidInput(
            Rule("must_be", what=Rule("module_and_name", example=example), got=quoted(target)), field=field
        )
    return module, name


def search_folder(folder: Path) -> None:
    """Find modules in this folder. Unlike `python -m`, a console script does not search the one it is started in."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def import_module(name: str, folder: Path, field: str) -> ModuleType:
    """Import a module. Exceptions from importing it pass through."""
    if not all(part.isidentifier() for part in name.split(".")):
        raise InvalidInput(Rule("module_not_in_full", got=quoted(name)), field=field)
    search_folder(folder)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # The module exists; something that it imports does not.
        raise InvalidInput(
            Rule("no_such_module", module=quoted(error.name)),
            field=field,
        ) from error


def find_app(target: str, kind: type[T], folder: Path, field: str = "app") -> T:
    """Return the App that `module:name` refers to."""
    module_name, name = split_target(target, field, "shop.jobs:app")
    module = import_module(module_name, folder, field)
    app = getattr(module, name, None)
    if not isinstance(app, kind):
        apps = sorted(key for key, value in vars(module).items() if isinstance(value, kind))
        hint = Rule("module_has_apps", apps=apps) if apps else Rule("module_has_no_app")
        raise InvalidInput(Rule("not_an_app", got=quoted(name), module=module_name, hint=hint), field=field)
    return app


def find_function(target: Any, folder: Path, field: str) -> Any:
    """Return the object that `module:name` refers to; an import error is reported with its location."""
    module_name, name = split_target(target, field, "shop.tasks:report")
    try:
        module = import_module(module_name, folder, field)
    except InvalidInput:
        raise
    except (Exception, SystemExit) as error:
        raise InvalidInput(
            Rule("module_broken", module=module_name, kind=type(error).__name__, error=error, where=_where(error)),
            field=field,
        ) from error
    if not hasattr(module, name):
        known = [key for key, value in vars(module).items() if callable(value) or hasattr(value, "function")]
        near = suggested(name, known)
        raise InvalidInput(Rule("module_lacks_name", module=module_name, name=quoted(name), nearest=near), field=field)
    return getattr(module, name)


def _where(error: BaseException) -> str:
    """Return the innermost file and line that the error came from."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith("<") and "importlib" not in file:
            place = f" ({file}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return place
