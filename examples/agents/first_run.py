"""Creates the office of agents and its first jobs, unless they exist, and prints the URLs to look at.

python first_run.py [SERVER_URL]
"""

import asyncio
import json
import sys
from pathlib import Path

from hanbeon import App
from hanbeon.surfaces.offices.schemas import Office
from hanbeon.surfaces.offices.service import Offices

HERE = Path(__file__).parent
NAME = "Agents"
RUN = HERE / "run.json"
SESSIONS = {
    "PO": "product_owner",
    "Architect": "architect",
    "FE": "frontend",
    "BE": "backend",
    "QA": "tester",
    "DevOps": "operator",
}
CONFIG = {"retryBaseDelay": 1_000}  # A second, not a minute: somebody is watching.


async def open_office(offices: Offices) -> Office:
    """Return the office, creating it if it does not exist."""
    existing = {office.name: office for office in (await offices.list()).items}
    return existing.get(NAME) or await offices.create(name=NAME, sessions=SESSIONS, config=CONFIG)


async def main(server: str) -> None:
    (HERE / "out").mkdir(exist_ok=True)
    async with App.from_file(HERE / "hanbeon.toml") as app:
        offices = Offices(app)
        office = await open_office(offices)
        if not (await offices.jobs(office.id, limit=1)).items:
            await offices.create_jobs(office.id, **json.loads(RUN.read_text(encoding="utf-8")))
    url = f"{server}/api/offices/{office.id}"
    print(f"The office of agents is {url}. While the server runs:")
    print(f"  curl -N {url}/events    # past and new events")
    print(f"  curl {url}/jobs         # its jobs; their files are in the folder out")
    print(f"  {server}/docs            # the API reference", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*(sys.argv[1:] or ["http://127.0.0.1:8000"])))
