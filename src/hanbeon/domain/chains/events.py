"""Events of chains, in the engine's event log."""

from __future__ import annotations

import enum


class ChainEventType(enum.StrEnum):
    """One event for each thing that happens to a chain while it runs."""

    STARTED = "chain_started"
    STEP_ENDED = "chain_step_ended"
    STEP_LOST = "chain_step_lost"
    TURNED = "chain_turned"
    BLOCKED = "chain_blocked"
    RESUMED = "chain_resumed"
    ABORTED = "chain_aborted"
    ENDED = "chain_ended"
