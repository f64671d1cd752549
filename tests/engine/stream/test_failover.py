"""Redis fails over to a replica that lags: it gets the requests that it lacks, and no other again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hanbeon import App, State
from tests.databases.proxy import fault_proxy
from tests.databases.valkey import ValkeyServer
from tests.engine.stream.kit import REQUESTS, connected, working
from tests.storm.moments import until


async def _ids(redis: Any, count: int) -> list[str] | None:
    found = [fields["jobId"] for _, fields in await redis.xrange(REQUESTS)]
    return found if len(found) == count else None


async def test_failover_resends_what_the_replica_lacks(sqlite_url: str, valkey: ValkeyServer, tmp_path: Path) -> None:
    (tmp_path / "replica").mkdir()
    replica = ValkeyServer(tmp_path / "replica")
    replica.start()
    try:
        async with (
            fault_proxy(valkey.url) as proxy,
            connected(valkey.url) as first,
            connected(replica.url) as second,
            App(sqlite_url, redis_url=proxy.url) as app,
        ):
            app.stream("thumb", "thumbs", retries=0, timeout="5m")
            await second.replicaof("127.0.0.1", valkey.port)
            async with app.worker():
                copied = await app.enqueue("thumb", {"n": 1})
                await until("its copy", lambda: _ids(second, 1))
                await second.replicaof("NO", "ONE")
                lost = await app.enqueue("thumb", {"n": 2})
                await until("the other", lambda: _ids(first, 2))
                assert await _ids(second, 1) == [copied.id]
                proxy.redirect(replica.url)
                valkey.kill()
                assert await until("what it lacks", lambda: _ids(second, 2)) == [copied.id, lost.id]
                async with working(proxy.url):
                    assert [(await job.wait(60)).state for job in (copied, lost)] == [State.SUCCEEDED] * 2
                (group,) = await second.xinfo_groups(REQUESTS)
                assert group["entries-read"] == 2, "each was sent once"
    finally:
        replica.kill()
