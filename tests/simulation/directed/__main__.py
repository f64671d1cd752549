"""`python -m tests.simulation.directed`: run the mutants, all or those with these names, and write who caught them.

`--case NAME` runs one directed plan on the product that is imported, `--trace` shows all that happened.
"""

from __future__ import annotations

import argparse
import sys

from tests.databases.installations import Installation, select
from tests.simulation.__main__ import show
from tests.simulation.directed import mutation
from tests.simulation.directed.case import Runner
from tests.simulation.directed.library import CASES, MUTANTS
from tests.simulation.stores import POSTGRES


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.directed", description=__doc__)
    parser.add_argument("mutants", nargs="*", help="names or parts of them; none: all")
    parser.add_argument("--case", help="run a directed plan, by its name or a part of it")
    parser.add_argument("--trace", action="store_true", help="print all that happened")
    parser.add_argument("--kinds", action="store_true", help="print the rules that found something, as JSON")
    parser.add_argument("--postgres", metavar="MAJOR", default="newest", help="for plans that need one")
    chosen = parser.parse_args()
    installation = next(iter(select(chosen.postgres)), None)
    if chosen.kinds:
        print(mutation.kinds_as_json(chosen.case, installation))
        return 0
    if chosen.case is not None:
        return _run_cases(chosen.case, installation, traced=chosen.trace)
    names = [name for name in MUTANTS if not chosen.mutants or any(part in name for part in chosen.mutants)]
    caught = {}
    for name in names:
        case, mutant = MUTANTS[name]
        if case.store == POSTGRES and installation is None:
            print(f"{name:60} left out: there is no PostgreSQL here")
            continue
        caught[name] = rules = mutation.caught_by(case, mutant, installation)
        print(f"{name:60} {', '.join(rules) or 'NOT CAUGHT'}", flush=True)
    mutation.write(caught)
    return 0 if all(caught.values()) else 1


def _run_cases(part: str, installation: Installation | None, *, traced: bool) -> int:
    found = 0
    with Runner.ready(installation) as runner:
        for name, case in CASES.items():
            if part not in name:
                continue
            print(name)
            for result in runner.run(case, traced=traced):
                found += len(result.findings)
                print(f"  {result.processor_seconds:.2f} s, {result.jobs} jobs, {result.bodies} bodies")
                if result.findings or traced:
                    show(result, traced=traced)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
