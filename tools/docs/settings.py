"""The settings of docs/configuration.md, generated from the settings class."""

from __future__ import annotations

from typing import Any

from hanbeon.settings import Settings
from tools.docs.markdown import table


def render() -> str:
    prefix = Settings.env_prefix
    rows = (
        (f"`{name}`", f"`{prefix}{name.upper()}`", _default(field.default), field.description)
        for name, field in Settings.model_fields.items()
    )
    return table(("setting", "environment", "default", "meaning"), rows)


def _default(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    days = f" ({value // 86_400} days)" if isinstance(value, int) and value >= 86_400 and value % 86_400 == 0 else ""
    return f"`{value}`{days}"
