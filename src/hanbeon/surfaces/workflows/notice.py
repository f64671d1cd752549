"""The message to those who are to know that a run failed for good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hanbeon.clock import iso
from hanbeon.domain.outcome import Outcome, Raised, Returned
from hanbeon.messages import Message, MessageFailed, Messenger, Tone
from hanbeon.store.store import Store
from hanbeon.surfaces.workflows.errors import WorkflowRunNotFound
from hanbeon.surfaces.workflows.run_rows import run_by_id

_TIMEOUT_SECONDS = 60.0
_GONE = Returned('{"skipped":"the run, or the target, is gone"}')
_TEXTS = {
    "en": ("Workflow “{name}” failed", "Run {run_id} of {name}, due at {time}, failed: {error}"),
    "ko": ("워크플로우 “{name}” 실패", "{name} 워크플로우의 실행 {run_id}({time} 예정)이 실패했습니다: {error}"),
}


async def send_notice(store: Store, messenger: Messenger, args: Mapping[str, Any]) -> Outcome:
    """Send one, in the language of the installation."""
    try:
        run = await store.read(lambda tx: run_by_id(tx, None, args["run_id"]))
    except WorkflowRunNotFound:
        return _GONE
    plan = run.plan
    if plan is None or args["number"] >= len(plan.notifications):
        return _GONE
    settings, target = messenger.settings, plan.notifications[args["number"]]
    title, body = _TEXTS[settings.language]
    words = {
        "name": plan.name,
        "run_id": run.run_id,
        "time": iso(run.scheduled_time, settings.zone, "seconds"),
        "error": run.error_message or run.error_code,
    }
    page = settings.page_url("workflows", run.workflow_id, run.run_id)
    text = body.format(**words) if page is None else f"{body.format(**words)}\n{page}"
    message = Message(target=target, title=title.format(**words), body=text, tone=Tone.FAILURE)
    try:
        key = f"{run.run_id}:notice:{args['number']}"
        await messenger.send(message, timeout=_TIMEOUT_SECONDS, key=key, trusted=plan.trusted)
    except MessageFailed as error:
        return Raised(str(error), error.failure_type, permanent=error.permanent)
    return Returned()
