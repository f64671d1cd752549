"""Opens the office of agents and gives it its first work, unless that was done before; says where to look.

python first_run.py [the server's address]
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
    """The office of that name; made if it is not there."""
    there = {office.name: office for office in (await offices.list()).items}
    return there.get(NAME) or await offices.create(name=NAME, sessions=SESSIONS, config=CONFIG)


async def main(server: str) -> None:
    (HERE / "out").mkdir(exist_ok=True)
    async with App.from_file(HERE / "hanbeon.toml") as app:
        offices = Offices(app)
        office = await open_office(offices)
        if not (await offices.jobs(office.id, limit=1)).items:
            await offices.create_jobs(office.id, **json.loads((HERE / "run.json").read_text()))
    here = f"{server}/api/offices/{office.id}"
    print(f"The office of agents is {here}. While the server runs:")
    print(f"  curl -N {here}/events    # what has happened, and what happens")
    print(f"  curl {here}/jobs         # its jobs; what they make is in the folder out")
    print(f"  {server}/docs            # everything that can be asked", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*(sys.argv[1:] or ["http://127.0.0.1:8000"])))
