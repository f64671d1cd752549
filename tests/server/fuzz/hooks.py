"""Makes random requests meaningful now and then: with known handlers, so that jobs run, and existing jobs.

Only valid values are replaced, by other valid ones: what was meant to be refused still is.
"""

from __future__ import annotations

import itertools
import json
import os
from typing import Any

import schemathesis

HANDLER = "quick"
_NAME_LIMIT, _MOMENT_LIMIT = 200, 40
_NOBODY = "01890000-0000-7000-8000-00000000dead"
_MOMENTS = ("run_at", "starts_at", "ends_at")
# What there is: by the beginning of paths, what stands in them.
_known: dict[str, list[dict[str, str]]] = json.loads(os.environ.get("HANBEON_FUZZ_KNOWN", "{}"))
_turns = itertools.count()


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    path, turn = case.operation.path, next(_turns)
    for beginning, known in _known.items():
        if not path.startswith(beginning):
            continue
        if case.method == "DELETE":
            if case.path_parameters in known:  # Others still want it.
                case.path_parameters = dict.fromkeys(case.path_parameters, _NOBODY)
        elif turn % 4 and not (case.meta and case.meta.phase.name == "stateful"):  # There, links say of what it is.
            case.path_parameters = known[turn % len(known)]
    if case.headers and "If-Match" in case.headers and turn % 4:
        case.headers["If-Match"] = "*"
    body = _with_known_parts(path, case.body)
    if body is not case.body:  # Assigned, a body that was left out would count as invalid, even where none is needed.
        case.body = body


def _with_known_parts(path: str, body: Any) -> Any:
    if not isinstance(body, dict):
        return body
    if path in ("/api/offices", "/api/offices/{id}"):
        return {**body, **_known_targets(body)}
    if path == "/api/offices/{id}/jobs" and isinstance(body.get("jobs"), list):
        return {**body, "jobs": [_with_known_names(job) for job in body["jobs"]] or [{}]}
    if path.startswith("/api/schedules"):
        return _with_a_time(body)
    return body


def _with_a_time(body: dict[str, Any]) -> dict[str, Any]:
    """Few texts are a time or the name of a zone."""
    kept = {name: value for name, value in body.items() if not (name in _MOMENTS and _is_text(value, _MOMENT_LIMIT))}
    if _is_name(kept.get("task_id")):
        kept["task_id"] = HANDLER
    if kept.get("cron") is None or (isinstance(kept["cron"], str) and kept["cron"]):
        kept["cron"] = "0 9 * * *"
    if _is_name(kept.get("timezone")):
        kept["timezone"] = "Asia/Seoul"
    if isinstance(kept.get("jitter"), int | float | str):
        kept["jitter"] = 5
    return kept


def _known_targets(body: dict[str, Any]) -> dict[str, Any]:
    """Use known handlers, and no webhooks or notifications, so that nothing is sent to random addresses."""
    known: dict[str, Any] = {}
    if _is_sessions(body.get("sessions")):
        known["sessions"] = {"default": HANDLER}
    if _is_texts(body.get("notifications")):
        known["notifications"] = []
    hooks = body.get("webhooks")
    if isinstance(hooks, list) and all(isinstance(each, dict) and {"url", "secret"} == each.keys() for each in hooks):
        known["webhooks"] = []
    return known


def _with_known_names(job: Any) -> Any:
    if not isinstance(job, dict):
        return job
    known: dict[str, Any] = {}
    if _is_name(job.get("handler")):
        known["handler"] = HANDLER
    if _is_texts(job.get("depends_on")):
        known["depends_on"] = []
    return {**job, **known}


def _is_sessions(value: Any) -> bool:
    return value is None or (
        isinstance(value, dict)
        and all(_is_name(role) and (task is None or _is_name(task)) for role, task in value.items())
    )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_name(value: Any) -> bool:
    return _is_text(value, _NAME_LIMIT) and bool(value) and "\x00" not in value


def _is_text(value: Any, most: int) -> bool:
    return isinstance(value, str) and len(value) <= most
