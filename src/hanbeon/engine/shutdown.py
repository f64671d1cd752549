"""The end of a worker's attempts at shutdown: let them finish, then hand the rest back."""

from __future__ import annotations

import asyncio

from hanbeon.engine.running_attempts import RunningAttempts
from hanbeon.executors.executor import StopCause

_CHECK_SECONDS = 0.02


async def let_finish(attempts: RunningAttempts, seconds: float, stop_now: asyncio.Event) -> None:
    """Wait until nothing runs any more, for `seconds` at most, or until `stop_now` is set.

    Call it only after claiming has ended: a claim under way would take what is handed back, and start it here again.
    """
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + seconds
    stopped = loop.create_task(stop_now.wait())
    while len(attempts) and not stopped.done() and (left := ends_at - loop.time()) > 0:
        await attempts.any_left(min(left, _CHECK_SECONDS))
    stopped.cancel()


async def hand_back(attempts: RunningAttempts, lease: float) -> None:
    """Stop what runs. Returns when the database has recorded all that has stopped, within the time of a lease.

    Processes get their grace. Threads cannot be stopped: their leases are no longer renewed, and their jobs are
    recovered elsewhere.
    """
    attempts.stop_all(StopCause.SHUTDOWN)
    loop = asyncio.get_running_loop()
    began_at = loop.time()
    while len(attempts):
        settling = any(attempt.settling for attempt in attempts)
        stop_seconds = max(attempt.executor.stop_seconds for attempt in attempts)
        limit = lease if settling else max(1.0, lease / 10) + stop_seconds
        if loop.time() - began_at > limit:
            return
        await attempts.any_left(_CHECK_SECONDS)
