"""Cycles are found, named truly, and looked for in linear time."""

from hypothesis import given
from hypothesis import strategies as st

from hanbeon.domain.graph import find_cycle

GRAPHS = st.dictionaries(st.sampled_from("abcdefgh"), st.lists(st.sampled_from("abcdefghXY"), max_size=4), max_size=8)


def _is_cyclic(graph: dict[str, list[str]]) -> bool:
    """The oracle: some node can be reached from itself, by Warshall's closure."""
    reach = {(node, dep) for node, deps in graph.items() for dep in deps if dep in graph}
    for middle in graph:
        reach |= {(a, d) for a, b in reach for c, d in reach if b == middle == c}
    return any((node, node) in reach for node in graph)


@given(GRAPHS)
def test_a_cycle_is_found_exactly_if_there_is_one(graph: dict[str, list[str]]) -> None:
    cycle = find_cycle(graph)
    assert (cycle is not None) == _is_cyclic(graph)
    if cycle is not None:
        assert len(set(cycle)) == len(cycle)
        for node, dep in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            assert dep in graph[node]


def test_a_job_that_waits_for_itself_is_a_cycle_of_one() -> None:
    assert find_cycle({"a": ["a"]}) == ["a"]


def test_the_way_into_a_cycle_is_not_part_of_it() -> None:
    cycle = find_cycle({"far": ["near"], "near": ["a"], "a": ["b"], "b": ["c"], "c": ["a"]})
    assert cycle is not None
    assert set(cycle) == {"a", "b", "c"}


def test_a_long_chain_is_fine_and_its_closing_is_found() -> None:
    chain = {str(n): [str(n - 1)] if n else [] for n in range(200_000)}
    assert find_cycle(chain) is None
    ring = {str(n): [str((n - 1) % 20_000)] for n in range(20_000)}
    cycle = find_cycle(ring)
    assert cycle is not None
    assert len(cycle) == 20_000


def test_a_diamond_and_a_doubled_dependency_are_no_cycles() -> None:
    assert find_cycle({"top": [], "left": ["top"], "right": ["top"], "bottom": ["left", "right", "left"]}) is None
