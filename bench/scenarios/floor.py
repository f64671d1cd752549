"""The rate that the databases themselves allow, and Hanbeon's share of it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from bench import numbers, processes
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.scenarios.drain import ONE, TWO
from bench.subjects import Store

_SECONDS, _SHORT_SECONDS = 2.0, 1.0
_START = 1.5
_BATCHES, _SHORT_BATCHES = (1, 10, 100, 500), (500,)
_BEST = 500
# More per second than any current machine does, so that the table never runs empty.
_MOST = {Store.POSTGRES: {1: 10_000, 10: 60_000}, Store.SQLITE: {1: 40_000, 10: 150_000}}
_MOST_BATCHED = {Store.POSTGRES: 150_000, Store.SQLITE: 350_000}


class Floor:
    """Jobs per second of hand-written SQL."""

    name = "floor"
    title = "Floor: hand-written SQL, claim and complete in two durable transactions, jobs per second"
    by_default = True
    with_peers = False

    def steps(self, rig: Rig) -> list[Step]:
        return [Step(_subject(store), partial(self._measure, rig, store)) for store in _MOST]

    def _measure(self, rig: Rig, store: Store) -> Iterator[Measurement]:
        seconds = _SHORT_SECONDS if rig.options.short else _SECONDS
        yield self._race(rig, store, "commits", "commit", 1, 1, seconds)
        for batch in _SHORT_BATCHES if rig.options.short else _BATCHES:
            for count in (1, 2):
                yield self._race(rig, store, _measure(batch, count), "claim", batch, count, seconds)

    def _race(
        self, rig: Rig, store: Store, measure: str, command: str, batch: int, count: int, seconds: float
    ) -> Measurement:
        jobs = 1 if command == "commit" else round(_MOST[store].get(batch, _MOST_BATCHED[store]) * seconds)
        with rig.servers.database(store) as url, ThreadPoolExecutor(count) as threads:
            program = partial(_program, rig, store, url)
            program("fill", jobs, 0, 0)
            quiet, start_at = rig.quiet(), time.time() + _START
            running = [threads.submit(program, command, batch, seconds, start_at) for _ in range(count)]
            outputs = [json.loads(each.result()) for each in running]
        done = sum(number for number, _ in outputs)
        rate = sum(number / took for number, took in outputs)
        return Measurement(measure, {"jobs": done, "dry": float(done >= jobs > 1), "rate": rate}, quiet)

    def tables(self, results: Results) -> list[Table]:
        head = ["database", *(f"batch {batch}, {count} proc." for batch in _BATCHES for count in (1, 2)), "commits/s"]
        measures = [*(_measure(batch, count) for batch in _BATCHES for count in (1, 2)), "commits"]
        rows = [
            [name, *(numbers.rate(results.figures(self.name, measure, name, "rate")) for measure in measures)]
            for name in results.subjects(self.name)
        ]
        kept = [n for n in range(len(head)) if n == 0 or any(row[n] != "–" for row in rows)]
        notes = ["No job is executed and nothing is recorded: no attempts, events or limits."]
        return [Table(self.title, [head[n] for n in kept], [[row[n] for n in kept] for row in rows], notes)]

    def aims(self, results: Results) -> list[Aim]:
        found = []
        for store in _MOST:
            ours = [results.figures("drain", measure, f"hanbeon-{store}", *fields) for measure, fields in (ONE, TWO)]
            floor = [results.figures(self.name, _measure(_BEST, n), _subject(store), "rate") for n in (1, 2)]
            share, doubled = numbers.ratio(ours[0], floor[0]), numbers.ratio(ours[1], ours[0])
            beside = f"floor: {numbers.times(numbers.ratio(floor[1], floor[0]))}"
            percent = None if share is None else share * 100
            half = 50 if store is Store.POSTGRES else None
            found.append(Aim(f"drain on {store}, share of the floor (batch {_BEST})", percent, half, unit=" %"))
            # Two processes on one file write in turn: the second must cost little, and cannot bring much.
            least = 0.9 if store is Store.SQLITE else None
            found.append(Aim(f"drain on {store}: 2 processes ÷ 1", doubled, least, beside=beside))
        return found


def _measure(batch: int, count: int) -> str:
    return f"batch {batch} x {count}"


def _subject(store: Store) -> str:
    return f"floor-{store}"


def _program(rig: Rig, store: Store, url: str, *arguments: object) -> str:
    command = [sys.executable, "-m", "bench.floor", str(store), *map(str, arguments)]
    return processes.run(command, rig.environment(url), 120)
