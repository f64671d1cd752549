"""The table and statements of reminders."""

from __future__ import annotations

from pathlib import Path

from hanbeon.store.parts import StorePart

PART = StorePart(Path(__file__).parent, {"reminder_check": "CHECK (length(text) < 10000)"})
