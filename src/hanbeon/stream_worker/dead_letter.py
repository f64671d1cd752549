"""Dead letters: entries that could not be read, with the reason, for operators."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

DEADLETTERS_KEPT = 100_000


def bury(pipe: Any, name: str, kind: str, entry_id: str, fields: Mapping[str, str], reason: str) -> None:
    """Copy an entry of `<name>.<kind>` to the dead letters; acknowledge it in the same transaction."""
    letter = {"stream": f"{name}.{kind}", "id": entry_id, "reason": reason, "payload": json.dumps(dict(fields))}
    pipe.xadd(f"{name}.deadletter", letter, maxlen=DEADLETTERS_KEPT, approximate=True)
