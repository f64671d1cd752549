"""Traces of a server process, read back from a collector: parents, order, what is passed on, and no secrets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from tests.cli.hanbeon import environment, hanbeon
from tests.cli.workers import Running
from tests.server.client import Client
from tests.server.otlp_receiver import Collector, Span, collecting

_SECRET = "hunter2-do-not-export"
_TRACE, _CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
_GIVEN = {"traceparent": f"00-{_TRACE}-{_CALLER}-01", "tracestate": "rojo=00f067,congo=t61"}
_TASKS = """
import os
from hanbeon import App, Context, PermanentError

app = App()

@app.task(retries=1, retry_delay=0.001)
async def build(ctx: Context, password: str = "") -> str:
    from opentelemetry import trace
    with trace.get_tracer("shop").start_as_current_span("inside"):
        pass
    if ctx.attempt == 1:
        raise ConnectionError(f"cannot log in with {password}")
    await ctx.enqueue(pack.call())
    return password

@app.task
async def pack() -> None:
    pass

@app.task(executor="process")
def crunch() -> str:
    from opentelemetry import trace
    own = trace.get_current_span().get_span_context()
    return f"{own.trace_id:032x}-{own.span_id:016x}"

app.command("shell", ["printenv", "TRACEPARENT", "TRACESTATE"], result="text", pass_env=["PATH"])
app.http("call", os.environ["CALLED"], allow_private=True)

def step(arguments, context):
    return {}
"""


@contextlib.asynccontextmanager
async def _serving(folder: Path, url: str, collector: Collector, **more: str) -> AsyncIterator[tuple[Client, Running]]:
    (folder / "traced.py").write_text(_TASKS)
    env = environment(
        HANBEON_TRACING="true",
        OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
        OTEL_BSP_SCHEDULE_DELAY="50",
        OTEL_SERVICE_NAME="test",
        **{"CALLED": "http://127.0.0.1:1/", **more},
    )
    options = ("--app", "traced:app", "--database", url, "--port", "0")
    with Running("serve", *options, cwd=folder, env=env) as running:
        started = await asyncio.to_thread(running.until, "server_started")
        yield Client(started["url"]), running


def _named(spans: list[Span], name: str, **attributes: Any) -> list[Span]:
    wanted = {f"hanbeon.{key}": value for key, value in attributes.items()}.items()
    return [span for span in spans if span.name.startswith(name) and wanted <= span.attributes.items()]


async def test_office_job_with_a_retry_is_one_trace(tmp_path: Path, database_url: str) -> None:
    with collecting() as collector:
        async with _serving(tmp_path, database_url, collector) as (client, running):
            body = {"name": "Seoul", "sessions": {"default": "build"}}
            hostile = {"traceparent": f"00-{_TRACE}-{_CALLER}-01-more", "tracestate": "x" * 5_000}
            office = (await client.ask("POST", "/api/offices", body, **hostile)).json["id"]
            job = {"title": "Build", "args": {"password": _SECRET}}
            made = await client.ask("POST", f"/api/offices/{office}/jobs", {"jobs": [job]}, **_GIVEN)
            job_id = made.json["jobs"][0]["id"]
            ended = await asyncio.to_thread(_until_ended, running, job_id)
            spans = await asyncio.to_thread(
                collector.wait_for,
                lambda found: (
                    bool(_named(found, "process", task="pack", outcome="succeeded"))
                    and len(_named(found, "process", task="build")) == 2
                    and len([span for span in found if span.kind == "SERVER" and span.trace == _TRACE]) == 1
                ),
            )
            assert ended[-1]["trace_id"] == _TRACE

    (ignored,) = (span for span in spans if span.name == "POST /api/offices")
    assert (ignored.parent, ignored.state) == ("", "")
    spans = [span for span in spans if span.trace == _TRACE]
    (request,) = (span for span in spans if span.kind == "SERVER")
    (enqueue,) = _named(spans, "enqueue")
    waits, attempts = _named(spans, "wait", **{"job.id": job_id}), _named(spans, "process", task="build")
    (child,) = _named(spans, "process", task="pack")
    assert request.name == "POST /api/offices/{id}/jobs"
    assert (request.parent, request.state) == (_CALLER, _GIVEN["tracestate"])
    assert (enqueue.kind, enqueue.parent) == ("PRODUCER", request.id)
    assert [(span.parent, span.attributes["hanbeon.attempt"]) for span in waits] == [(enqueue.id, 1), (enqueue.id, 2)]
    assert [(span.kind, span.parent) for span in attempts] == [("CONSUMER", enqueue.id)] * 2
    assert [span.failed for span in attempts] == [True, False]
    assert [span.attributes["hanbeon.outcome"] for span in attempts] == ["retried", "succeeded"]
    assert attempts[0].attributes["error.type"] == "error"
    assert child.parent == attempts[1].id
    assert [span.parent for span in _named(spans, "inside")] == [span.id for span in attempts]
    assert request.start <= enqueue.start <= attempts[0].start <= attempts[0].end <= attempts[1].start <= child.start
    assert _SECRET.encode() not in collector.raw


def _until_ended(running: Running, job_id: str) -> list[dict[str, Any]]:
    seen = []
    for line in running.lines():
        if line.get("job") == job_id and "state" in line:
            seen.append(line)
            if line["state"] in ("succeeded", "failed"):
                return seen
    raise AssertionError("it never ended")


async def test_calls_of_an_attempt_carry_its_context(tmp_path: Path, sqlite_url: str) -> None:
    heard: list[dict[str, str]] = []

    class Called(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append({name.lower(): value for name, value in self.headers.items()})
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    with collecting() as collector, HTTPServer(("127.0.0.1", 0), Called) as called:
        threading.Thread(target=called.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{called.server_port}/"
        more = {"CALLED": address, "HANBEON_CHAIN_LIBRARIES": "traced"}
        async with _serving(tmp_path, sqlite_url, collector, **more) as (client, _):
            results = {}
            for task in ("shell", "call", "crunch"):
                made = await client.ask("POST", "/api/engine/jobs", {"task": task}, **_GIVEN)
                results[task] = await _ended(client, made.json["id"])
            steps = [{"forward_operation": "step"}] * 2
            chain = (await client.post("/api/chains", {"queue_library": "traced", "jobs": steps})).json["queue_id"]
            other = {"traceparent": f"00-{'ab' * 16}-{_CALLER}-01"}
            assert (await client.ask("POST", f"/api/chains/{chain}/run?wait=60", {}, **other)).status == 200
            spans = await asyncio.to_thread(
                collector.wait_for,
                lambda found: (
                    len(_chain_steps(found)) == 2
                    and len(_chain_runs(found)) == 1  # A request ends, and is sent, after what it waited for.
                    and all(_named(found, "process", task=task) for task in results)
                ),
            )
        called.shutdown()
    of = {task: _named(spans, "process", task=task)[0] for task in ("shell", "call", "crunch")}
    assert results["shell"].splitlines() == [f"00-{_TRACE}-{of['shell'].id}-01", _GIVEN["tracestate"]]
    assert heard[0]["traceparent"] == f"00-{_TRACE}-{of['call'].id}-01"
    assert heard[0]["tracestate"] == _GIVEN["tracestate"]
    assert results["crunch"] == f"{_TRACE}-{of['crunch'].id}"
    (run,) = _chain_runs(spans)
    assert [(span.trace, span.parent) for span in _chain_steps(spans)] == [("ab" * 16, run.id)] * 2


def _chain_runs(spans: list[Span]) -> list[Span]:
    return [span for span in _named(spans, "POST /api/chains/") if span.name.endswith("/run")]


def _chain_steps(spans: list[Span]) -> list[Span]:
    return [span for span in _named(spans, "process") if span.attributes["hanbeon.queue"] == "chains"]


async def _ended(client: Client, job_id: str) -> Any:
    async with asyncio.timeout(60):
        while (found := (await client.get(f"/api/engine/jobs/{job_id}")).json)["state"] not in ("succeeded", "failed"):  # noqa: ASYNC110
            await asyncio.sleep(0.2)
    assert found["state"] == "succeeded", found
    return found["result"]


_PROGRAM = """
import asyncio, json, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from hanbeon import App, Context

exporter, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("program")
app = App(sys.argv[1], tracing=True)

@app.task(retries=1, retry_delay=0.001)
async def work(ctx: Context, who: str) -> None:
    if ctx.attempt == 1:
        raise ValueError("once more")

async def main():
    with tracer.start_as_current_span("main"):
        async with app, app.worker():
            other = App(sys.argv[1])
            other.task(name="work", retries=1, retry_delay=0.001)(work.function)
            async with other:
                untraced = await other.enqueue("work", {"who": "nobody"})
            with tracer.start_as_current_span("caller"):
                traced = await app.enqueue("work", {"who": "caller"})
            await traced.result(timeout=60)
            await app.job(untraced.id).result(timeout=60)
            return [untraced.id, traced.id]

def shape(span):
    own, parent = span.get_span_context(), span.parent
    return [span.name, f"{own.trace_id:x}", f"{own.span_id:x}", parent and f"{parent.span_id:x}", dict(span.attributes)]

ids = asyncio.run(main())
print(json.dumps([ids, [shape(span) for span in exporter.get_finished_spans()]]))
"""


async def test_program_keeps_its_provider_and_its_traces(sqlite_url: str) -> None:
    ran = await asyncio.to_thread(_python, _PROGRAM, sqlite_url)
    (untraced, traced), spans = ran
    (caller,) = [span for span in spans if span[0] == "caller"]
    (enqueue,) = [span for span in spans if span[0].startswith("enqueue")]
    assert enqueue[3] == caller[2]
    attempts = [span for span in spans if span[0].startswith("process")]
    of_caller = [span for span in attempts if span[4]["hanbeon.job.id"] == traced]
    assert [(span[1], span[3]) for span in of_caller] == [(caller[1], enqueue[2])] * 2

    # A job of a program without traces begins one of its own, and its second attempt continues that.
    alone = [span for span in attempts if span[4]["hanbeon.job.id"] == untraced]
    waits = [span for span in spans if span[0].startswith("wait") and span[4]["hanbeon.job.id"] == untraced]
    root = next(span for span in waits if span[3] is None)
    assert [(span[1], span[3]) for span in alone] == [(root[1], root[2])] * 2
    assert root[1] != caller[1]


async def test_tracing_without_its_extra_names_the_remedy(tmp_path: Path, sqlite_url: str) -> None:
    package = tmp_path / "opentelemetry"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('not installed')")
    answer = await asyncio.to_thread(
        lambda: hanbeon("jobs", "--database", sqlite_url, HANBEON_TRACING="true", PYTHONPATH=str(tmp_path))
    )
    assert answer.returncode == 5
    assert "hanbeon[otel]" in answer.stderr


async def test_untraced_work_loads_and_writes_nothing(tmp_path: Path, sqlite_url: str) -> None:
    program = """
import asyncio, json, sys
from hanbeon import App
app = App(sys.argv[1])
@app.task
async def work() -> None: pass
async def main():
    async with app, app.worker():
        await (await app.enqueue("work")).result(timeout=60)
        async with app.transaction() as tx:
            rows = await tx.fetch("SELECT count(*) AS n FROM hanbeon_trace")
        return [name for name in sys.modules if name.startswith(("opentelemetry", "hanbeon.telemetry"))], rows[0]["n"]
print(json.dumps(asyncio.run(main())))
"""
    assert await asyncio.to_thread(_python, program, sqlite_url) == [[], 0]


def _python(program: str, *arguments: str) -> Any:
    """Run a program and return the JSON that it prints."""
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment(),
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )
    return json.loads(ran.stdout)
