"""Short words for tests of exports."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from hanbeon import App
from hanbeon.service.tokens import create_token
from tests.server.client import Client, Response

SAMPLE = Path(__file__).parents[3] / "examples" / "replay.jsonl"
SMALL = {"width": 160, "height": 90, "fps": 5, "lengthMs": 1_000}
BOUNDARY = "b0undary"


def form(data: bytes, name: str = "경기.jsonl", field: str = "file") -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'
    return head.encode() + data + f"\r\n--{BOUNDARY}--\r\n".encode()


async def upload(client: Client, data: bytes | None = None, **headers: str) -> Response:
    """Upload a file, the sample by default."""
    body = form(SAMPLE.read_bytes() if data is None else data)
    kind = f"multipart/form-data; boundary={BOUNDARY}"
    return await client.post("/api/replays", body, Content_Type=kind, **headers)


async def uploaded(client: Client) -> int:
    made = await upload(client)
    assert made.status == 201, made
    return int(made.json["replayId"])


async def exported(client: Client, replay: int, kind: str = "mp4", **options: Any) -> int:
    chosen = options or ({"width": 160, "height": 90} if kind == "thumbnail" else SMALL)
    made = await client.post(f"/api/replays/{replay}/exports/{kind}", chosen)
    assert made.status == 202, made
    return int(made.json["jobId"])


async def ended(client: Client, job: int) -> dict[str, Any]:
    """Wait for the end of an export."""
    async with asyncio.timeout(120):
        while True:
            found: dict[str, Any] = (await client.get(f"/api/jobs/{job}")).json
            if found["status"] not in ("QUEUED", "RUNNING"):
                return found
            await asyncio.sleep(0.1)


async def token_of(app: App, user: str, scope: str = "user") -> str:
    return (await create_token(app.store, user, scope)).text
