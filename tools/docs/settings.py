"""docs/settings.md, generated from the settings class."""

from __future__ import annotations

from typing import Any

from hanbeon.settings import Settings
from tools.docs.markdown import table

PATH = "settings.md"
SOURCE = "src/hanbeon/settings.py"


_PAGE = """# Settings

Each setting is an argument of `App`, an environment variable, and a key of `[settings]` in
[hanbeon.toml](configuration.md#settings); the first of these that is set wins. Invalid values and unknown
arguments are refused. An environment variable with a misspelt name causes a warning. Durations are seconds,
and may be fractions. `hanbeon config show --origin` shows the values in effect and where they come from;
`hanbeon config check` reports problems.

```python
app = App("postgresql:///shop", concurrency=50, lease=60)
```

{settings}
Leases are renewed every third of `lease`, so that two heartbeats may fail before a lease is in danger.
"""


def render() -> str:
    prefix = Settings.env_prefix
    rows = (
        (f"`{name}`", f"`{prefix}{name.upper()}`", _default(field.default), field.description)
        for name, field in Settings.model_fields.items()
    )
    return _PAGE.format(settings=table(("setting", "environment", "default", "meaning"), rows))


def _default(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    days = f" ({value // 86_400} days)" if isinstance(value, int) and value >= 86_400 and value % 86_400 == 0 else ""
    return f"`{value}`{days}"
