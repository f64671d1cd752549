"""Runs a steady load with pruning, and samples everything that could grow."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

from bench import numbers, processes
from bench.gauge import MEGABYTE, Gauge
from bench.rig import Rig
from bench.scenario import Measurement
from bench.servers import connected
from bench.subjects import Subject

BATCH, EVERY = 20, 0.01
_SAMPLE_SECONDS, _LEAST_SAMPLES = 10.0, 24
_RETENTION, _PRUNE_EVERY = 60.0, 5.0
_USUAL_MINUTES = 20.0
_TIMEOUT = 60.0
_FACTS = """
SELECT json_build_object(
  'made', (SELECT last_value FROM hanbeon.job_seq_seq),
  'backlog', ({unfinished}),
  'tables', sum(pg_table_size(relid)),
  'indexes', sum(pg_indexes_size(relid)),
  'live', sum(n_live_tup),
  'dead', sum(n_dead_tup))::text
FROM pg_stat_user_tables WHERE schemaname = 'hanbeon'
"""


def soak(rig: Rig, subject: Subject, measure: str) -> Iterator[Measurement]:
    """Yield one measurement per sample; `at` is in seconds since the first job ran."""
    seconds = rig.options.minutes * 60
    count = max(_LEAST_SAMPLES, round(seconds / _SAMPLE_SECONDS))
    # A short trial has a shorter retention, so that it includes pruning too.
    short = min(1.0, rig.options.minutes / _USUAL_MINUTES)
    settings = {"HANBEON_RETENTION": str(_RETENTION * short), "HANBEON_PRUNE_EVERY": str(_PRUNE_EVERY * short)}
    # More calls than there is time for: the producer is killed after the last sample.
    producer = subject.client("steady", round(2 * seconds / EVERY) + 1000, BATCH, EVERY)
    quiet, gauge = rig.quiet(), Gauge()
    with (
        rig.database(subject) as url,
        rig.workers(subject, url, 1, settings) as group,
        processes.group([producer], rig.environment(url), rig.folder / "producer.log") as producing,
        connected(url) as query,
    ):
        if not rig.marks.wait(1, _TIMEOUT, group.check):
            raise processes.ProgramError(f"no job ran in {_TIMEOUT:.0f} s")
        began_at = taken_at = time.monotonic()
        ran = made = 0
        gauge.cpu(group)
        for number in range(1, count + 1):
            time.sleep(max(0.0, began_at + number * seconds / count - time.monotonic()))
            producing.check()
            marks, now = rig.marks.read(ran), time.monotonic()
            facts = json.loads(str(query(_FACTS.format(unfinished=subject.unfinished))))
            waits = [(ran_at - enqueued_at) / 1e6 for enqueued_at, ran_at in marks] or [0.0]
            values = {
                "at": now - began_at,
                "enqueued": (facts["made"] - made) / (now - taken_at),
                "ran": len(marks) / (now - taken_at),
                "backlog": facts["backlog"],
                "p50": numbers.percentile(waits, 0.5),
                "p99": numbers.percentile(waits, 0.99),
                "tables_mb": facts["tables"] / MEGABYTE,
                "indexes_mb": facts["indexes"] / MEGABYTE,
                "live": facts["live"],
                "dead": facts["dead"],
                "cpu": gauge.cpu(group) * 100,
                "memory_mb": gauge.memory / MEGABYTE,
            }
            ran, made, taken_at = ran + len(marks), facts["made"], now
            yield Measurement(measure, values, quiet)
