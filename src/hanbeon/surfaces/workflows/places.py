"""Places of a template: where a run inserts values."""

from __future__ import annotations

import re

from hanbeon.domain.templates import variables
from hanbeon.surfaces.workflows.checks import SECRETS

_PLACE = re.compile(r"\{\{\s*([^\s{}]+)\s*\}\}")


def filled(text: str, probe: str) -> str:
    """Return the template with a probe for each value but secrets."""
    own = {name for name in variables(text) if not name.startswith(f"{SECRETS}.")}
    return _PLACE.sub(lambda found: probe if found[1] in own else found[0], text)
