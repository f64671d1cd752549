"""The kinds of tasks that are measured, by the names that their adapters have for them."""

from __future__ import annotations

PLAIN = "plain"
WAITS = {"wait_1ms": 0.001, "wait_20ms": 0.02}
"""The seconds that these bodies wait."""
CONTEXT = "context"
TIMEOUT = "timeout"
THREAD = "thread"
LIMITED = "limited"
