"""`python -m tests.simulation 1-200`: run seeds of the workload; `make simulate SEEDS=1-200` does the same."""

from __future__ import annotations

import argparse
import os
import sys
import time

from hanbeon.testing.simulation import Plan, Result, Simulator, shrink
from hanbeon.testing.simulation.plan import to_json
from tests.simulation.stores import SQLITE, STORES, kinds_of, store_of
from tests.simulation.totals import Totals, commit
from tests.simulation.workload.scenario import plan_of, simulator

_WRITTEN_EVERY = 10
_SHRINK_SECONDS = 300.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("seeds", help="a seed, or a range such as 1-200")
    parser.add_argument("--store", choices=STORES, default=SQLITE)
    parser.add_argument("--trace", action="store_true", help="print all that happens")
    parser.add_argument("--plan", action="store_true", help="print the plan of each seed, and run nothing")
    parser.add_argument("--digest", action="store_true", help="print the digest of each seed, and nothing else")
    parser.add_argument("--shrink", action="store_true", help="print the smallest plan that breaks the same rule")
    parser.add_argument("--keep", action="store_true", help="add to the kept totals; skip seeds that are in them")
    chosen = parser.parse_args()
    first, _, last = chosen.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    kinds = kinds_of(chosen.store)
    if chosen.plan:
        for seed in seeds:
            print(to_json(plan_of(seed, kinds)))
        return 0
    with simulator(store_of(chosen.store)) as made:
        if chosen.digest:
            for seed in seeds:
                print(made.run(plan_of(seed, kinds)).digest)
            return 0
        if chosen.shrink:
            return max(_shrink(made, plan_of(seed, kinds)) for seed in seeds)
        return _run(made, seeds, chosen.store, traced=chosen.trace, keep=chosen.keep)


def _run(made: Simulator, seeds: range, store: str, *, traced: bool, keep: bool) -> int:
    totals, at = (Totals(), commit()) if keep else (None, "")
    kinds = kinds_of(store)
    failed, began, processor, number = [], time.monotonic(), 0.0, 0
    for seed in seeds:
        if totals is not None and totals.has(at, store, seed):
            continue
        result = made.run(plan_of(seed, kinds), traced=traced)
        number += 1
        processor += result.processor_seconds
        if result.findings or traced:
            failed += [seed] * bool(result.findings)
            show(result, traced=traced)
        if totals is not None:
            totals.add(at, store, result)
            if number % _WRITTEN_EVERY == 0 or seed == seeds[-1]:
                totals.write()
    print(
        f"{number} seeds in {time.monotonic() - began:.0f} s, {number / max(processor, 0.001) * 60:.1f} a minute of "
        f"processor time; {len(failed)} with findings: {failed}"
    )
    return 1 if failed else 0


def _shrink(made: Simulator, plan: Plan) -> int:
    result = made.run(plan)
    if not result.findings:
        print(f"seed {plan.seed}: nothing is found")
        return 0
    shrunk = shrink(made.run_at_once, plan, result, _SHRINK_SECONDS, os.cpu_count() or 1)
    show(shrunk.result, traced=True)
    print(to_json(shrunk.plan))
    print(f"after {shrunk.tries} tries{'' if shrunk.is_finished else ', when the time was over'}")
    return 1


def show(result: Result, *, traced: bool) -> None:
    if traced:
        for at, node, text in result.trace:
            print(f"{at:12.6f} {node:8} {text}")
    print(f"seed {result.seed}: {len(result.findings)} findings; digest {result.digest}")
    for each in result.findings[:4]:
        print("   ", each.replace("\n", "\n      "))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
