"""Gives one surface its next work: `python rounds.py office|chain|workflow|exports`. Schedules run it.

It opens the database of hanbeon.toml, as any program of an installation may.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from hanbeon import App

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent
LIBRARIES = (EXAMPLES / "agents", EXAMPLES / "chains")
DIGEST = "Shop digest"
JOURNEY = "journey"
_UNFINISHED = ("pending", "ready", "processing")

sys.path[:0] = [str(folder) for folder in LIBRARIES if str(folder) not in sys.path]


async def office(app: App) -> str:
    """Give the office of agents its jobs, unless it still has some."""
    from first_run import RUN, open_office

    found = await open_office(app.offices)
    for status in _UNFINISHED:
        if (await app.offices.jobs(found.id, status=status, limit=1)).items:
            return "the agents are still at work"
    jobs = json.loads(RUN.read_text(encoding="utf-8"))["jobs"]
    item = f"guestbook-{dt.datetime.now():%m%d-%H%M}"
    await app.offices.create_jobs(found.id, jobs=[{**job, "task_id": item} for job in jobs])
    return f"{item}: {len(jobs)} jobs"


async def chain(app: App) -> str:
    """Run the journey whose car is sold out, creating it the first time."""
    chains = (await app.chains.list()).items
    found = next((each for each in chains if each.queue_library == JOURNEY), None)
    if found is None:
        found = await app.chains.create(
            queue_library=JOURNEY, jobs=[_booking("flight"), _booking("hotel"), _booking("car", sold_out=True)]
        )
    if found.state != "READY":
        return f"chain {found.queue_id} is {found.state}"
    await app.chains.run(found.queue_id)
    return f"chain {found.queue_id} runs"


def _booking(what: str, **more: bool) -> dict[str, object]:
    return {"forward_operation": "book", "backward_operation": "cancel", "arguments": {"what": what, **more}}


async def workflow(app: App) -> str:
    """Run the digest now, beside the run that its own times register."""
    for each in (await app.workflows.list()).items:
        if each.name == DIGEST:
            done = await app.workflows.execute(each.id)
            return f"run {done.run_id} is {done.status}"
    return "no digest"


async def exports(app: App) -> str:
    """Export the match as a video and as a picture, uploading it the first time."""
    path = EXAMPLES / "replay.jsonl"
    replays = (await app.replays.list(size=1)).items
    replay = replays[0] if replays else await app.replays.upload(path)
    await app.exports.export_thumbnail(replay, start_ms=2_000)
    video = await app.exports.export_mp4(replay, width=640, height=360)
    return f"export {video.job_id}"


ROUNDS: dict[str, Callable[[App], Awaitable[str]]] = {
    "office": office,
    "chain": chain,
    "workflow": workflow,
    "exports": exports,
}


async def main(name: str) -> None:
    async with App.from_file(HERE / "hanbeon.toml") as app:
        print(await ROUNDS[name](app))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
