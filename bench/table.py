"""The table of subjects, ours first."""

from __future__ import annotations

from bench.environments import OURS
from bench.subjects import Store, Subject

_CONCURRENCY = 1000

_OURS = (
    Subject(
        name="hanbeon-postgres",
        note=f"async task, uvloop, concurrency={_CONCURRENCY}",
        store=Store.POSTGRES,
        adapter="ours",
        environment=OURS,
        singles=3000,
        jobs=100_000,
        bulk=True,
        setting=_CONCURRENCY,
        unfinished="SELECT count(*) FROM hanbeon.job WHERE finished_at IS NULL",
    ),
    Subject(
        name="hanbeon-sqlite",
        note=f"async task, uvloop, concurrency={_CONCURRENCY}, synchronous=FULL",
        store=Store.SQLITE,
        adapter="ours",
        environment=OURS,
        singles=3000,
        jobs=50_000,
        bulk=True,
        setting=_CONCURRENCY,
        unfinished="SELECT count(*) FROM hanbeon_job WHERE finished_at IS NULL",
    ),
)


def _pgqueuer(batch: int, jobs: int) -> Subject:
    return Subject(
        name=f"pgqueuer-{batch}",
        note=f"uvloop, batch_size={batch}",
        store=Store.POSTGRES,
        adapter="pgqueuer",
        environment="pgqueuer",
        singles=3000,
        jobs=jobs,
        bulk=True,
        setting=batch,
        unfinished="SELECT count(*) FROM pgqueuer",
    )


def _redis(name: str, note: str, worker: str, *, singles: int, jobs: int, bulk: bool = False) -> Subject:
    environment = name.partition("-")[0]
    adapter = name.replace("-", "_") if environment == "huey" else environment
    return Subject(
        name=name,
        note=note,
        store=Store.REDIS,
        adapter=adapter,
        environment=environment,
        singles=singles,
        jobs=jobs,
        bulk=bulk,
        worker=f"{{bin}}/{worker}",
    )


_PEERS = (
    _pgqueuer(100, 50_000),
    _pgqueuer(10, 20_000),
    Subject(
        name="procrastinate",
        note="concurrency=10",
        store=Store.POSTGRES,
        adapter="procrastinate",
        environment="procrastinate",
        singles=1200,
        jobs=3000,
        bulk=True,
        setting=10,
        unfinished="SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')",
    ),
    Subject(
        name="chancy",
        note="async executor, concurrency=100",
        store=Store.POSTGRES,
        adapter="chancy",
        environment="chancy",
        singles=800,
        jobs=10_000,
        bulk=True,
        setting=100,
        unfinished="SELECT count(*) FROM chancy_jobs WHERE state <> 'succeeded'",
    ),
    Subject(
        name="dbos",
        note="polls every 0.1 s, worker_concurrency=500",
        store=Store.POSTGRES,
        adapter="dbos",
        environment="dbos",
        singles=1000,
        jobs=2000,
        setting=500,
        unfinished="SELECT count(*) FROM dbos.workflow_status WHERE status IN ('ENQUEUED', 'PENDING')",
    ),
    _redis(
        "huey-redis", "4 threads", "huey_consumer bench.adapters.huey_redis.huey -w 4 -q", singles=8000, jobs=18_000
    ),
    _redis(
        "dramatiq",
        "8 threads",
        "dramatiq bench.adapters.dramatiq -p 1 -t 8 --skip-logging",
        singles=6000,
        jobs=12_000,
    ),
    _redis(
        "taskiq-redis",
        "streams",
        "taskiq worker --workers 1 --log-level ERROR bench.adapters.taskiq:broker",
        singles=5000,
        jobs=15_000,
    ),
    _redis("saq", "concurrency=10", "saq bench.adapters.saq.settings --quiet", singles=4000, jobs=8000),
    _redis(
        "celery",
        "prefork, 2 processes",
        "celery -A bench.adapters.celery worker -P prefork -c 2 -l ERROR -n w{number}@bench"
        " --without-gossip --without-mingle --without-heartbeat",
        singles=3000,
        jobs=6000,
    ),
    _redis("rq", "SimpleWorker", "rq worker -q -w rq.SimpleWorker -u {url}", singles=3000, jobs=2000, bulk=True),
    Subject(
        name="huey-sqlite",
        note="1 thread",
        store=Store.SQLITE,
        adapter="huey_sqlite",
        environment="huey",
        singles=5000,
        jobs=12_000,
        worker="{bin}/huey_consumer bench.adapters.huey_sqlite.huey -w 1 -q",
    ),
)

SUBJECTS = {subject.name: subject for subject in (*_OURS, *_PEERS)}
