"""Dead letters: entries that could not be read, with the reason, for operators."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

DEADLETTERS_KEPT = 100_000
HEAD = 8_192
"""Characters of a field that a letter keeps: a hundred thousand whole messages would fill any memory."""
FIELDS_MOST = 64
_NAME_MOST = 200


def dead_letter(pipe: Any, name: str, kind: str, entry_id: str, fields: Mapping[str, str], reason: str) -> None:
    """Copy the heads of an entry's fields to the dead letters; acknowledge it in the same transaction.

    Where a field is longer, `truncated` has its length.
    """
    letter = {
        "stream": f"{name}.{kind}",
        "id": entry_id,
        "reason": reason[:HEAD],
        "payload": json.dumps(_heads(fields)),
    }
    lengths = {field[:_NAME_MOST]: len(value) for field, value in fields.items() if len(value) > HEAD}
    if lengths or len(fields) > FIELDS_MOST:
        letter["truncated"] = json.dumps(dict(list(lengths.items())[:FIELDS_MOST]))
    pipe.xadd(f"{name}.deadletter", letter, maxlen=DEADLETTERS_KEPT, approximate=True)


def _heads(fields: Mapping[str, str]) -> dict[str, str]:
    return {field[:_NAME_MOST]: value[:HEAD] for field, value in list(fields.items())[:FIELDS_MOST]}
