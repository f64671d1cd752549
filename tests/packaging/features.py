"""Programs that use a feature for real, each with what its extra brings and nothing else."""

CORE = """
import asyncio
from hanbeon import App

app = App("sqlite:///jobs.db")

@app.task
async def double(n: int) -> int:
    return 2 * n

async def main():
    async with app, app.worker():
        print(await (await app.enqueue(double.call(21))).result(timeout=300))

asyncio.run(main())
"""
HTTP = """
import asyncio, sys
from pathlib import Path
from hanbeon import App

Path("hanbeon.toml").write_text(f'tasks.ping.http = {{ url = "{sys.argv[1]}", allow_private = true }}')
app = App.from_file("hanbeon.toml")

async def main():
    async with app, app.worker():
        print(await (await app.enqueue(app.tasks.get("ping").call())).result(timeout=300))

asyncio.run(main())
"""
MESSAGES = """
import asyncio, sys
from hanbeon.messages import Message, Messenger
from hanbeon.outbound.secrets import Secrets
from hanbeon.settings import Settings
from hanbeon.surfaces.offices.delivery.webhook import _headers

async def main():
    messenger = Messenger(Settings(outbound_allow_private=True), Secrets({}))
    try:
        await messenger.send(Message(sys.argv[1].replace("http", "json"), "title", "body"))
    finally:
        await messenger.close()

asyncio.run(main())
print("webhook-signature" in _headers("whsec_" + "A" * 44, "id", 1, b"{}"))
"""
REDIS = """
import asyncio, sys
from hanbeon.stream_worker.redis_client import redis_client

async def main():
    client = redis_client(sys.argv[1])
    print(await client.ping())
    await client.aclose()

asyncio.run(main())
"""
RENDER = """
import sys
from pathlib import Path
from hanbeon.surfaces.exports.rendering.render_options import RenderOptions
from hanbeon.surfaces.exports.rendering.renderer import render_video

class Report:
    cancelled = False
    def progress(self, percent, phase, message):
        pass

options = RenderOptions(width=320, height=180, fps=10, start_ms=5_000, length_ms=500)
print(render_video(Path(sys.argv[1]), Path("video.mp4"), options, Report()).path.stat().st_size > 1_000)
"""
PSYCOPG = """
import sys
import psycopg
from hanbeon import App, SyncApp

app = App(sys.argv[1])

@app.task
def work() -> None: ...

with SyncApp(app) as jobs, psycopg.connect(sys.argv[1]) as connection:
    job = jobs.enqueue(work.call(), transaction=connection)
    connection.commit()
    print(jobs.job(job.id).id == job.id)
"""
PATTERNS = """
from hanbeon.tasks.parameters import pattern_of

print(pattern_of("(a+)+b").matches("a" * 40))
"""
UVLOOP = """
from hanbeon.cli.event_loop import run

async def main():
    import asyncio
    print(type(asyncio.get_running_loop()).__module__)

run(main())
"""
TRACING = CORE.replace('"sqlite:///jobs.db"', '"sqlite:///jobs.db", tracing=True')
SIMULATION = """
from hanbeon import App
from hanbeon.testing.simulation import Fault, FaultKind, Operation, Plan, Scenario, Simulator

app = App("sqlite:///jobs.db")

@app.task
async def double(n: int) -> int:
    return 2 * n

class Doubling(Scenario):
    async def carry_out(self, simulation, operation):
        await simulation.app.enqueue(double.call(21))

plan = Plan(seed=1, operations=(Operation(1.0, "double"),), faults=(Fault(1.0, FaultKind.KILL),), until=3.0)
with Simulator(lambda: Doubling(app)) as simulator:
    print(simulator.run(plan).findings)
"""
