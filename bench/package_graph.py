"""A generated graph in the shape of a package archive: few that very many depend on, a long tail, tens of layers."""

from __future__ import annotations

import random

JOBS, EDGES = 63_000, 257_000
_POPULAR_SHARE, _POPULAR_POWER, _OTHER_POWER = 0.3, 12, 1.1
_SEED = 20


def package_graph(jobs: int) -> list[list[int]]:
    """Return the dependencies of each job, all of them earlier jobs; in proportion, `EDGES` for `JOBS`.

    It is the same graph every time.
    """
    chance = random.Random(_SEED)
    wanted = jobs * EDGES // JOBS
    graph: list[list[int]] = []
    left = wanted
    for n in range(jobs):
        # As many as are left for each of the jobs left, most often fewer and sometimes many more.
        mean = max(left, 1) / (jobs - n)
        number = min(n, round(chance.expovariate(1 / mean)))
        chosen = {_choose(chance, n) for _ in range(number)}
        graph.append(sorted(chosen))
        left -= len(chosen)
    return graph


def _choose(chance: random.Random, n: int) -> int:
    power = _POPULAR_POWER if chance.random() < _POPULAR_SHARE else _OTHER_POWER
    return int(n * chance.random() ** power)
