"""The generated graph has the size and the shape that it stands for."""

from collections import Counter

from bench.package_graph import EDGES, JOBS, package_graph


def test_the_whole_graph_has_its_size_and_its_shape() -> None:
    graph = package_graph(JOBS)
    assert len(graph) == JOBS
    assert abs(sum(map(len, graph)) - EDGES) < EDGES / 100
    dependents = Counter(each for dependencies in graph for each in dependencies)
    assert dependents.most_common(1)[0][1] > JOBS / 4, "something that very many depend on"
    depths: list[int] = []
    for dependencies in graph:
        depths.append(1 + max((depths[each] for each in dependencies), default=-1))
    assert 30 < max(depths) < 100


def test_every_job_depends_on_earlier_ones() -> None:
    for jobs in (1, 2, 50, 1_000):
        graph = package_graph(jobs)
        assert all(0 <= each < n for n, dependencies in enumerate(graph) for each in dependencies)
        assert graph == package_graph(jobs)
