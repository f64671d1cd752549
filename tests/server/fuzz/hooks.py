"""Makes what is sent at random meaningful now and then: handlers that the server has, so that jobs run; jobs there are.

Only what fits the description is exchanged, for something else that does: what was meant to be refused still is.
"""

from __future__ import annotations

import itertools
import os
from typing import Any

import schemathesis

HANDLER = "quick"
_NAME_LIMIT = 200
# Jobs that there are: `office/job`, with spaces between them.
_jobs = os.environ.get("HANBEON_FUZZ_JOBS", "").split()
_turns = itertools.count()


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    path, turn = case.operation.path, next(_turns)
    if "{jobId}" in path and turn % 4:
        office, _, job = _jobs[turn % len(_jobs)].partition("/")
        case.path_parameters = {"id": office, "jobId": job}
    if case.headers and "If-Match" in case.headers and turn % 4:
        case.headers["If-Match"] = "*"
    case.body = _with_known_parts(path, case.body)


def _with_known_parts(path: str, body: Any) -> Any:
    if not isinstance(body, dict):
        return body
    if path in ("/api/offices", "/api/offices/{id}"):
        return {**body, **_known_targets(body)}
    if path == "/api/offices/{id}/jobs" and isinstance(body.get("jobs"), list):
        return {**body, "jobs": [_with_known_names(job) for job in body["jobs"]] or [{}]}
    return body


def _known_targets(body: dict[str, Any]) -> dict[str, Any]:
    """Nobody is told anything: what random addresses would lead to is not for this test."""
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


def _is_sessions(told: Any) -> bool:
    return told is None or (
        isinstance(told, dict)
        and all(_is_name(role) and (task is None or _is_name(task)) for role, task in told.items())
    )


def _is_texts(told: Any) -> bool:
    return isinstance(told, list) and all(isinstance(each, str) for each in told)


def _is_name(told: Any) -> bool:
    return isinstance(told, str) and 0 < len(told) <= _NAME_LIMIT and "\x00" not in told
