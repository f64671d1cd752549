"""`python -m bench`, which `make bench` runs."""

from __future__ import annotations

import signal
import sys
from types import FrameType

from rich.console import Console

from bench.options import parse
from bench.records import ROOT, load, save
from bench.report import page, terminal
from bench.runner import Run
from bench.scenarios import SCENARIOS
from bench.table import SUBJECTS


def main() -> int:
    default = [name for name, scenario in SCENARIOS.items() if scenario.by_default]
    options = parse(sys.argv[1:], list(SCENARIOS), default)
    scenarios = [SCENARIOS[name] for name in options.scenarios]
    console, status = Console(stderr=True), 0
    if options.stored:
        results = load(options.stored)
    else:
        peers = options.peers if any(scenario.with_peers for scenario in scenarios) else ()
        chosen = [subject for subject in SUBJECTS.values() if subject.is_ours or subject.name in peers]
        run = Run(options, scenarios, chosen, console)
        results = run.results
        signal.signal(signal.SIGTERM, _end)
        try:
            run.measure()
        except KeyboardInterrupt:
            console.print("Interrupted; the results so far are kept.")
            status = 130
        if results.records:
            console.print(f"Results are in {save(results).relative_to(ROOT)}.")
    terminal.show(results, list(SCENARIOS.values()))
    if options.write and status == 0:
        page.write(results, list(SCENARIOS.values()))
        console.print(f"Written: {page.PAGE.relative_to(ROOT)}.")
    return status


def _end(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
