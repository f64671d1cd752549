"""Plain successes within a transaction: one statement where the general path takes three."""

from __future__ import annotations

from collections.abc import Mapping

from hanbeon.domain.lifecycle import AttemptStatus, Reason
from hanbeon.domain.outcome import AttemptEnd, Returned
from hanbeon.store.operations.complete import (
    Completed,
    CompletionReport,
    emit_end,
    event_factory_of,
    wake_for_slots,
)
from hanbeon.store.operations.dependencies import meet_dependents
from hanbeon.store.operations.end_hooks import run_end_hooks
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx, to_json


async def succeed(tx: Tx, lanes: LaneCache, reports: Mapping[tuple[int, int], CompletionReport]) -> list[Completed]:
    """Apply the plain successes of one instance; those missing from the answer are left as they were."""
    instance = next((report.instance for report in reports.values()), None)
    returned = {
        report.seq: (report.fence, report.outcome.result)
        for report in reports.values()
        if isinstance(report.outcome, Returned) and report.instance == instance
    }
    if instance is None or not returned:
        return []
    rows = await tx.fetch("succeed", to_json(list(returned)), to_json(returned), instance)
    if not rows:
        return []
    await lanes.learn(tx, [row["lane"] for row in rows])
    ending = AttemptEnd(Reason.SUCCEEDED, AttemptStatus.COMPLETED, 0)
    build = event_factory_of(ending, rows[0]["now"])
    for row in rows:
        emit_end(tx, lanes, row, build, seen=True)
    await meet_dependents(tx, lanes, [row["seq"] for row in rows])
    await run_end_hooks(tx, lanes, rows)
    wake_for_slots(tx, lanes, rows)
    return [Completed(row["seq"], row["fence"], ending.state, ending.reason, row["now"]) for row in rows]
