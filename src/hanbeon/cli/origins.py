"""Where each setting comes from, and what is wrong with any."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from hanbeon.cli.loading import load_app
from hanbeon.cli.opening import looking
from hanbeon.errors import HanbeonError, InvalidInput
from hanbeon.settings import Settings, load_settings, masked, misspelt_names, settings_refused

_SECRET = "_url"


class Setting(msgspec.Struct, frozen=True):
    """A setting in force. `origin` is the default, a variable of the environment, the App, or an option."""

    name: str
    value: Any
    origin: str

    @property
    def shown(self) -> str:
        if self.value is None:
            return ""
        return f"{self.value:.12g}" if isinstance(self.value, float) else str(self.value)


def settings_in_force(app: str | None, database: str | None) -> list[Setting]:
    """Every setting of an App, or of whatever runs in this environment."""
    here = load_settings()
    used = load_settings(database_url=database) if app is None else load_app(app, database).settings
    return [_setting(name, used, here, database) for name in Settings.model_fields]


def _setting(name: str, used: Settings, here: Settings, database: str | None) -> Setting:
    value = getattr(used, name)
    if name == "database_url" and database is not None:
        origin = "--database"
    elif value != getattr(here, name):
        origin = "the App"
    else:
        origin = _variable(name) or "default"
    return Setting(name, masked(value) if name.endswith(_SECRET) and value else value, origin)


def _variable(name: str) -> str | None:
    """The variable that sets it; upper and lower case are the same to the settings."""
    wanted = f"{Settings.model_config['env_prefix']}{name}".upper()
    return next((variable for variable in os.environ if variable.upper() == wanted), None)


async def problems(database: str | None) -> list[HanbeonError]:
    """All that is wrong with the environment; if nothing is, what is wrong with the database."""
    found: list[HanbeonError] = [*settings_refused()]
    found += [
        InvalidInput(f"there is no such setting; did you mean {near}?", field=name)
        for name, near in misspelt_names().items()
    ]
    if not found:
        try:
            async with looking(database):
                pass
        except HanbeonError as error:
            found.append(error)
    return found
