"""A world with something of each kind, and a valid body for each operation that takes one, with ids of that world."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from hanbeon.surfaces.operation import Operation
from tests.server.client import Client

TASK = "quick"
_NOBODY = "01890000-0000-7000-8000-00000000dead"
_WINDOW = {"width": 320, "height": 180, "startMs": 0, "lengthMs": 1_000}
_STEPS = [{"type": "wait", "seconds": 0}]
_CONFIG = {"maxConcurrentJobs": 3, "maxConcurrentByRole": {"FE": 1, "QA": None}, "maxRetries": 1, "retryBaseDelay": 5}
_TIMES = {"cron": "0 9 * * *", "timezone": "Asia/Seoul", "jitter": 5, "dst_gap": "fire", "dst_fold": "first"}


class World(NamedTuple):
    """Ids by the beginnings of paths that they stand in."""

    ids: dict[str, dict[str, str]]

    def path(self, operation: Operation) -> str:
        """A path with ids of what exists; what is deleted never does."""
        ids: dict[str, str] = {}
        for beginning, known in self.ids.items():
            if operation.path.startswith(beginning) and operation.method != "DELETE":
                ids |= known
        return re.sub(r"\{(\w+)\}", lambda name: ids.get(name[1], _NOBODY), operation.path)


def new_world(client: Client) -> World:
    def made(path: str, body: Any, name: str = "id") -> str:
        answer = client.ask_now("POST", path, body)
        assert answer.status in (200, 201, 202), answer
        return str(answer.json[name])

    office = made("/api/offices", {"name": "Seoul"})
    job = client.ask_now("POST", f"/api/offices/{office}/jobs", {"jobs": [{}]}).json["jobs"][0]["id"]
    workflow = {"name": "Busan", "steps": _STEPS, "schedule_config": {"mode": "immediate"}, "status": "draft"}
    return World(
        {
            "/api/offices/": {"id": office, "jobId": job},
            "/api/engine/jobs/": {"jobId": job},
            "/api/engine/queues/": {"name": f"office:{office}"},
            "/api/tasks/": {"task_id": TASK},
            "/api/schedules/": {"id": made("/api/schedules", {"task_id": TASK, "cron": "0 9 * * *"})},
            "/api/chains/": {"queue_id": made("/api/chains", {"jobs": [{}]}, "queue_id")},
            "/api/workflows/": {"id": made("/api/workflows", workflow)},
        }
    )


def valid_body(world: World, operation: Operation) -> Any:
    """A body that the operation accepts, with most of its fields; None if it takes none."""
    bodies: dict[str, Any] = {
        "NewEngineJob": {
            "task": TASK,
            "args": {"name": "x"},
            "role": "FE",
            "priority": 3,
            "urgent": False,
            "delay": 60,
        },
        "Bulk": {"action": "cancel", "filter": {"state": ["ready"], "task": "none"}, "dry_run": True},
        "Retry": {"comment": "now it is there", "args": {"name": "y"}},
        "MarkDone": {"comment": "did it myself", "result": {"a": [1, "x"]}},
        "EnginePriority": {"priority": 3, "urgent": True},
        "Priority": {"priority": 3, "urgent": True},
        "QueueChange": {"max_per_key": 3, "keys": {"a": 2}, "paused": False},
        "NewTokenRequest": {"user": "ada", "scope": "read"},
        "OfficeBody": {
            "name": "Seoul",
            "config": _CONFIG,
            "sessions": {"FE": TASK},
            "notifications": [],
            "webhooks": [],
        },
        "OfficeChange": {"name": "Seoul", "config": _CONFIG, "sessions": {"FE": TASK}},
        "ConfigChange": _CONFIG,
        "SimulationLimits": {"maxConcurrentJobs": 3, "maxConcurrentByRole": {"FE": 2}, "assumed_ms": 1_000},
        "JobBatch": {
            "jobs": [
                {"key": "a", "role": "FE", "handler": TASK, "args": {"name": "x"}, "title": "One", "priority": 1},
                {"key": "b", "role": "QA", "depends_on": ["a"], "timeout_ms": 60_000, "max_retries": 1},
            ]
        },
        "CancelAll": {"role": "nobody", "statuses": ["ready"]},
        "ManualRun": {"args": {"name": "x"}},
        "NewSchedule": {**_TIMES, "task_id": TASK, "args": {"name": "x"}, "paused": True},
        "PreviewRequest": {**_TIMES, "n": 3},
        "ScheduleChange": {**_TIMES, "args": {"name": "x"}, "paused": True},
        "NewChain": {"jobs": [{"forward_operation": "f", "arguments": {"a": [1, {"b": "x"}]}}], "retries": 1},
        "NewChainJob": {"forward_operation": "f", "backward_operation": "b", "arguments": {"a": [1, {"b": "x"}]}},
        "NewRun": {"context": {"a": [1, {"b": "x"}]}},
        "NewWorkflow": {
            "name": "Busan",
            "steps": _STEPS,
            "schedule_config": {"mode": "immediate"},
            "variables": {"a": "x"},
        },
        "WorkflowChanges": {"name": "Busan", "steps": _STEPS, "variables": {"a": "x"}},
        "DryRun": {"variables": {"a": "x"}},
        "NewExecution": {"workflow_id": world.ids["/api/workflows/"]["id"], "variables": {"a": "x"}},
        "NewVideo": {**_WINDOW, "fps": 10},
        "NewThumbnail": _WINDOW,
    }
    if operation.request is None or operation.in_query:
        return None
    return next(bodies[each.__name__] for each in operation.request.__mro__ if each.__name__ in bodies)
