"""Latency of events: from just before the enqueue call to the event at each of many WebSockets."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial

from bench import numbers, processes
from bench.comparison import shown
from bench.http_server import serving
from bench.records import Results
from bench.rig import Rig
from bench.scenario import Aim, Measurement, Step, Table
from bench.scenarios.latency import waits_of
from bench.subjects import Subject

_LISTENERS, _JOBS, _EVERY = 100, 200, 0.05
_TIMEOUT = 600.0
_START, _RECEIVED = "start of a job", "event at a listener"
_SHARES = ("p50", "p95", "p99")


class Events:
    name = "events"
    title = f"Events: enqueue to {_LISTENERS} WebSockets in ms, beside enqueue to start, both idle"
    by_default = False
    with_peers = False

    def steps(self, rig: Rig) -> list[Step]:
        return [Step(subject.name, partial(self._measure, rig, subject)) for subject in rig.ours()]

    def _measure(self, rig: Rig, subject: Subject) -> Iterator[Measurement]:
        start = waits_of(rig, subject)
        yield Measurement(_START, start.values, start.quiet)
        with rig.database(subject) as url, serving(rig, url) as service:
            quiet = rig.quiet()
            arguments = (*service, _LISTENERS, rig.options.scaled(_JOBS), _EVERY)
            program = [sys.executable, "-m", "bench.event_listeners", *map(str, arguments)]
            output = processes.run(program, rig.environment(url), _TIMEOUT)
        yield Measurement(_RECEIVED, json.loads(output), quiet)

    def tables(self, results: Results) -> list[Table]:
        rows = [
            [
                measure,
                *(shown(results, self.name, (measure, (share,)), name, numbers.milliseconds) for share in _SHARES),
            ]
            for name in results.subjects(self.name)
            for measure in (_START, _RECEIVED)
        ]
        return [Table(self.title, ("", *_SHARES), rows)]

    def aims(self, results: Results) -> list[Aim]:
        (name,) = results.subjects(self.name)[:1] or [""]
        heard, start = (results.figures(self.name, measure, name, "p50") for measure in (_RECEIVED, _START))
        return [Aim(f"events: p50 at {_LISTENERS} listeners ÷ that of a start", numbers.ratio(heard, start), most=3)]
