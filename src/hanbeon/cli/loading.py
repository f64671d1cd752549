"""Finds the App that `--app module:name` means."""

from __future__ import annotations

import importlib
import os
import sys

from hanbeon.app import App
from hanbeon.errors import InvalidInput
from hanbeon.settings import load_settings


def load_app(target: str, database: str | None = None) -> App:
    """The App, on another database if one is given. What its module raises while it is imported is left as it is."""
    module_name, colon, name = target.partition(":")
    if not (module_name and colon and name):
        raise InvalidInput(
            f"{target!r} does not name an App; write module:name, for example shop.jobs:app", field="app"
        )
    # A console script does not search the folder it is started in, as `python -m` does.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # The module is there; something that it imports is not.
        raise InvalidInput(
            f"there is no module {error.name!r}; start in the folder that holds it, or set PYTHONPATH", field="app"
        ) from error
    app = getattr(module, name, None)
    if not isinstance(app, App):
        apps = sorted(key for key, value in vars(module).items() if isinstance(value, App))
        hint = f"it has {', '.join(apps)}" if apps else "it has no App at all"
        raise InvalidInput(f"{name!r} in {module_name} is not an App; {hint}", field="app")
    if database is not None:
        app.settings = load_settings(**app.settings.model_dump() | {"database_url": database})
    return app
