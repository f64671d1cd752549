"""No 5xx, no undocumented status or content, and nothing accepted that the OpenAPI document forbids."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hanbeon.surfaces.registry import SURFACES
from tests.cli.hanbeon import environment, hanbeon
from tests.cli.workers import Running
from tests.server.client import Client
from tests.server.fuzz import hooks
from tests.server.fuzz.hooks import HANDLER

_HERE = Path(__file__).parent
_SCHEMATHESIS = str(Path(sys.executable).with_name("schemathesis"))
_LONG = os.environ.get("HANBEON_FUZZ") == "long"
_EXAMPLES = 300 if _LONG else 4
_PATIENCE = 3_600
"""For a hang, and never for slowness: a busy machine takes ten times as long."""
_STREAMS = [channel.sse for surface in SURFACES for channel in surface.channels]
"""They answer for ever, so that a client which waits for the end of an answer waits in vain; they have own tests."""
_NOT_KNOWN = (
    "/api/engine/instances/{number}/drain",
    "/api/engine/instances/{number}/resume",
    "/api/engine/tokens/{number}",
    "/api/engine/deadletters/{letterId}",
    "/api/engine/deadletters/{letterId}/republish",
)
"""With the number of the server's worker no job would run any more, with that of its token no request be accepted;
and there are no dead letters without Redis.
"""
_UPLOAD = "multipart/form-data; boundary=part"
_SECRET = "whsec_" + "A" * 32
_TASKS = f"""
[tasks.{HANDLER}]
command = ["true"]
"""


@pytest.mark.slow
@pytest.mark.timeout(_PATIENCE + 60)
def test_fuzzed_requests_get_documented_responses(sqlite_url: str, tmp_path: Path) -> None:
    (tmp_path / "hanbeon.toml").write_text(_TASKS)
    token = hanbeon("token", "create", "--user", "ada", "--scope", "admin", "--database", sqlite_url).stdout.strip()
    log = tmp_path / "log"
    with (
        log.open("w") as lines,
        Running("serve", "--database", sqlite_url, "--port", "0", stderr=lines, cwd=tmp_path) as running,
    ):
        client = Client(_url(log, running), token)
        report = _fuzz(client, tmp_path, _known(client))
        metrics = client.ask_now("GET", "/metrics").body.decode()
        description = client.ask_now("GET", "/openapi.json").json
    assert report["exit_code"] == 0
    operations = report["operations"]
    assert operations["tested"] == operations["selected"] == operations["total"] - len(_STREAMS)
    assert {name for name, phase in report["phases"].items() if phase["status"] == "success"} == {
        *("coverage", "fuzzing", "stateful")
    }
    assert not _never_done(description, metrics)
    ran = [line for line in metrics.splitlines() if 'state="succeeded"' in line and not line.endswith(" 0.0")]
    assert len(ran) > 1, "hardly a job has run, so that most of the API was never reached"
    assert "request_failed" not in log.read_text()


def _never_done(description: Any, metrics: str) -> list[tuple[str, str]]:
    """Return operations that were only ever refused though no state forbids them: then hardly anything was tried."""
    counted = re.findall(
        r'^hanbeon_http_requests_total\{method="(\w+)",route="([^"]*)",status="[23]', metrics, re.MULTILINE
    )
    return [
        (method, path)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
        if path not in (*_STREAMS, *_NOT_KNOWN, "/metrics")
        and "409" not in operation["responses"]
        and (method.upper(), path) not in counted
    ]


def _url(log: Path, running: Running) -> str:
    while True:
        for line in log.read_text().splitlines():
            if line.endswith("}") and (entry := json.loads(line))["event"] == "server_started":
                return str(entry["url"])
        assert running.process.poll() is None, log.read_text()


def _known(client: Client) -> str:
    """Something of every kind: jobs, some that run and some that nobody does, a task, an execution, a schedule."""
    # No event of this kind occurs here, so nothing is sent to the webhook.
    hook = {"url": "https://example.invalid/hook", "secret": _SECRET, "events": ["job_timeout"]}
    body = {"name": "Seoul", "sessions": {"FE": HANDLER}, "webhooks": [hook]}
    made = client.ask_now("POST", "/api/offices", body).json
    office, webhook = made["id"], made["webhooks"][0]["id"]
    tried = client.ask_now("POST", f"/api/offices/{office}/webhooks/{webhook}/test").json["id"]
    jobs = [{"role": role} for role in ("FE", "FE", "QA", "QA", "PO", "PO")]
    made = client.ask_now("POST", f"/api/offices/{office}/jobs", {"jobs": jobs}).json["jobs"]
    schedule = client.ask_now("POST", "/api/schedules", {"task_id": HANDLER, "cron": "0 9 * * *"}).json["id"]
    execution = client.ask_now("POST", f"/api/tasks/{HANDLER}/executions").json["execution_id"]
    # Its job has no library: it needs none to be run.
    chain = client.ask_now("POST", "/api/chains", {"jobs": [{}]}).json["queue_id"]
    client.ask_now("POST", f"/api/chains/{chain}/run")
    steps = [{"type": "wait", "seconds": 0}]
    body = {"name": "Busan", "steps": steps, "schedule_config": {"mode": "immediate"}, "status": "active"}
    workflow = client.ask_now("POST", "/api/workflows?wait=20", body).json["id"]
    run = client.ask_now("POST", "/api/workflow/execute", {"workflow_id": workflow}).json["run_id"]
    replay, export = _known_export(client)
    script = client.ask_now("GET", "/dashboard/app.js").body.decode()
    chunks = re.findall(r"chunks/([\w-]+\.js)", script)
    known = {
        "/dashboard/chunks/{name}": [{"name": name} for name in chunks],
        "/api/offices/{id}": [{"id": office}],
        "/api/offices/{id}/jobs/{jobId}": [{"id": office, "jobId": job["id"]} for job in made],
        "/api/offices/{id}/webhooks/{webhookId}": [{"id": office, "webhookId": webhook}],
        "/api/offices/{id}/webhooks/{webhookId}/deliveries/{deliveryId}": [
            {"id": office, "webhookId": webhook, "deliveryId": tried}
        ],
        "/api/engine/jobs/{jobId}": [{"jobId": job["id"]} for job in made],
        "/api/engine/queues/{name}": [{"name": "default"}],
        "/api/chains/{queue_id}": [{"queue_id": str(chain)}],
        "/api/chains/{queue_id}/runs/{n}": [{"queue_id": str(chain), "n": "1"}],
        "/api/tasks/{task_id}": [{"task_id": HANDLER}],
        "/api/executions/{id}": [{"id": execution}],
        "/api/schedules/{id}": [{"id": schedule}],
        "/api/workflows/{id}": [{"id": workflow}],
        "/api/workflows/{id}/runs/{run_id}": [{"id": workflow, "run_id": run}],
        "/api/replays/{replayId}": [{"replayId": str(replay)}],
        "/api/jobs/{jobId}": [{"jobId": str(export)}],
    }
    return json.dumps(known)


def _known_export(client: Client) -> tuple[int, int]:
    """Upload the sample, and export its thumbnail."""
    head = '--part\r\nContent-Disposition: form-data; name="file"; filename="replay.jsonl"\r\n\r\n'
    form = head.encode() + (_HERE.parents[2] / "examples/replay.jsonl").read_bytes() + b"\r\n--part--\r\n"
    replay = client.ask_now("POST", "/api/replays", form, Content_Type=_UPLOAD).json["replayId"]
    return replay, client.ask_now("POST", f"/api/replays/{replay}/exports/thumbnail").json["jobId"]


def _fuzz(client: Client, folder: Path, known: str) -> dict[str, Any]:
    """Return the report of schemathesis, or fail with all its output if it found anything."""
    report = folder / "report.json"
    done = subprocess.run(
        [
            *(_SCHEMATHESIS, "--config-file", str(_HERE / "schemathesis.toml")),
            *("run", f"{client.url}/openapi.json"),
            *("--phases", "coverage,fuzzing,stateful", "--continue-on-failure"),
            *(word for path in _STREAMS for word in ("--exclude-path", path)),
            *("--max-examples", str(_EXAMPLES), "--request-timeout", "30", "--no-color"),
            *(() if _LONG else ("--seed", "1")),
            *("--report", "json", "--report-json-path", str(report)),
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        cwd=folder,
        env=environment(
            SCHEMATHESIS_HOOKS=hooks.__name__,
            PYTHONPATH=str(_HERE.parents[2]),
            HANBEON_FUZZ_TOKEN=str(client.token),
            HANBEON_FUZZ_KNOWN=known,
        ),
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    found: dict[str, Any] = json.loads(report.read_text())
    return found
