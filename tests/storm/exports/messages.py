"""Messages of exports that no worker would write: cut off, doubled, out of order, late, foreign, of unknown jobs."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from redis.exceptions import RedisError

from tests.databases.valkey import ValkeyServer
from tests.engine.stream.kit import connected
from tests.guarantees import guarantee
from tests.storm.moments import until

_PATIENCE = 120.0
UNKNOWN_JOB = 10**12


class ExportMessages:
    """Writes them into the streams, and looks into the dead letters. What cannot be read carries a mark of its own."""

    def __init__(self, valkey: ValkeyServer, rng: random.Random) -> None:
        self._valkey, self._random = valkey, rng
        self._written = 0
        self.marks: dict[str, str] = {}
        """Messages since the last loss of Redis that must be in the dead letters, and a part of the reason."""

    async def spoil(self, jobs: Sequence[int]) -> None:
        """Write one of each kind about random jobs."""
        job = str(self._random.choice(jobs))
        bad: list[tuple[str, dict[str, str], str]] = [
            ("progress", {"jobId": job, "progress": "4x"}, "progress must be"),
            ("progress", {"jobId": job}, "progress must be"),
            ("results", {"jobId": job, "status": "SUCCEE"}, "status must be one of"),
            ("results", {"status": "SUCCEEDED"}, "jobId must be"),
            ("results", {"jobId": job, "status": "SUCCEEDED", "result": '{"a"'}, "result must be JSON"),
            ("results", {"jobId": str(UNKNOWN_JOB), "status": "SUCCEEDED", "resultUri": "/x/1.mp4"}, "unknown job"),
            ("progress", {"jobId": "한번", "progress": "5"}, "unknown job"),
            ("requests", {"jobId": job, "jobType": "MP4", "options": '{"inputPa'}, "not a request"),
        ]
        try:
            async with connected(self._valkey.url) as redis:
                for kind, fields, reason in bad:
                    self._written += 1
                    mark = f"spoilt {self._written}"
                    await redis.xadd(f"job.{kind}", {**fields, "mark": mark})
                    self.marks[mark] = reason
                await self._double(redis)
                # Of an attempt that never was, and of the past: no letters, and no effect.
                await redis.xadd("job.results", {"jobId": job, "fence": "99", "status": "FAILED", "errorCode": "NO"})
                for percent in (3, 2, 1):
                    await redis.xadd("job.progress", {"jobId": job, "fence": "1", "progress": percent})
        except (RedisError, OSError):
            pass

    async def _double(self, redis: Any) -> None:
        """Write the last messages again, the newest first."""
        for kind in ("requests", "progress", "results"):
            for _, fields in await redis.xrevrange(f"job.{kind}", count=10):
                if "mark" not in fields:
                    await redis.xadd(f"job.{kind}", fields)

    async def report_success(self, job: int, uri: str) -> None:
        try:
            async with connected(self._valkey.url) as redis:
                fields = {"jobId": job, "fence": 1, "status": "SUCCEEDED", "resultUri": uri, "checksum": "late"}
                await redis.xadd("job.results", fields)
        except (RedisError, OSError):
            pass

    async def letters(self) -> list[dict[str, Any]]:
        async with connected(self._valkey.url) as redis:
            return [
                {**letter, "payload": json.loads(letter["payload"])}
                for _, letter in await redis.xrange("job.deadletter")
            ]

    async def check_letters(self) -> None:
        """Wait until everything unreadable is in the dead letters, and check the reasons."""

        async def all_there() -> dict[str, Any] | None:
            found = {each["payload"].get("mark"): each for each in await self.letters()}
            return found if self.marks.keys() <= found.keys() else None

        found = await until("the dead letters", all_there, _PATIENCE)
        with guarantee():
            wrong = [found[mark] for mark, reason in self.marks.items() if reason not in found[mark]["reason"]]
            assert wrong == []

    def forget_letters(self) -> None:
        self.marks.clear()
