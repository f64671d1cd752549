"""Dependencies between jobs: cycles inside a batch, and what depends on some of them; in linear time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def find_cycle(depends_on: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Return the ids of one cycle in dependency order, or None. Ids that are not keys have no dependencies here.

    Kahn's algorithm first; only the nodes that it cannot order are searched, without recursion, so that a chain of a
    million jobs is fine.
    """
    waiting = {node: sum(dep in depends_on for dep in deps) for node, deps in depends_on.items()}
    dependents: dict[str, list[str]] = {}
    for node, deps in depends_on.items():
        for dep in deps:
            if dep in depends_on:
                dependents.setdefault(dep, []).append(node)
    free = [node for node, count in waiting.items() if count == 0]
    while free:
        for node in dependents.get(free.pop(), ()):
            waiting[node] -= 1
            if waiting[node] == 0:
                free.append(node)
    stuck = {node for node, count in waiting.items() if count > 0}
    if not stuck:
        return None
    # Every stuck node waits for another stuck one, so the walk must return to a node that it has visited.
    seen: dict[str, int] = {}
    path: list[str] = []
    node = next(iter(stuck))
    while node not in seen:
        seen[node] = len(path)
        path.append(node)
        node = next(dep for dep in depends_on[node] if dep in stuck)
    return path[seen[node] :]


def dependents_of_any(nodes: Iterable[str], depends_on: Mapping[str, Sequence[str]]) -> set[str]:
    """Return these nodes and all that depend on one of them, directly or through others."""
    dependents: dict[str, list[str]] = {}
    for node, deps in depends_on.items():
        for dep in deps:
            dependents.setdefault(dep, []).append(node)
    found = set(nodes)
    left = list(found)
    while left:
        new = [node for node in dependents.get(left.pop(), ()) if node not in found]
        found.update(new)
        left += new
    return found
