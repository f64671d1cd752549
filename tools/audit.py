"""Look up known vulnerabilities of everything that the locks pin, the peers of the benchmarks included.

The index is that of OSV, which collects the advisories of PyPI and npm. Names and versions are sent, and nothing else.
Exit status: 0 if there is no advisory, and also if the index cannot be had, which is then said, since an audit that did
not happen is no finding; 1 if there are advisories; 2 with `--strict` if the index cannot be had.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.pins import ROOT, npm_pins, python_pins

INDEX = "https://api.osv.dev"
_SECONDS = 30.0
# As many as OSV takes in one request.
_BATCH = 1_000
# A page has up to 1,000 advisories: an index with more pages is not that of OSV.
_MOST_PAGES = 20


class Unavailable(Exception):
    """Advisories could not be had from the index."""


def purls(root: Path) -> list[str]:
    """Return the package URLs of all pins, each once."""
    found: dict[str, None] = {}
    for path in [root / "constraints.txt", *sorted((root / "bench/peers").glob("*.txt"))]:
        found.update((pin.purl, None) for pin in python_pins(path.read_text()))
    found.update((pin.purl, None) for pin in npm_pins((root / "dashboard/package-lock.json").read_text()))
    return list(found)


def advisories(index: str, packages: Sequence[str]) -> dict[str, list[str]]:
    """Return the ids of the advisories of each package that has any; raise Unavailable."""
    found: dict[str, list[str]] = {}
    queries = [{"package": {"purl": purl}} for purl in packages]
    for _ in range(_MOST_PAGES):
        if not queries:
            return found
        queries = [
            more for start in range(0, len(queries), _BATCH) for more in _page(index, queries[start:][:_BATCH], found)
        ]
    raise Unavailable(f"{index} did not come to an end")


def _page(index: str, queries: Sequence[dict[str, Any]], found: dict[str, list[str]]) -> Iterable[dict[str, Any]]:
    """Add what one request finds, and return the queries of which there is more."""
    results = _ask(f"{index}/v1/querybatch", {"queries": queries}).get("results")
    if not isinstance(results, list) or len(results) != len(queries):
        raise Unavailable(f"{index} did not answer every query")
    more = []
    for query, result in zip(queries, results, strict=True):
        ids = [advisory["id"] for advisory in (result or {}).get("vulns", [])]
        if ids:
            found.setdefault(query["package"]["purl"], []).extend(ids)
        if token := (result or {}).get("next_page_token"):
            more.append({**query, "page_token": token})
    return more


def _ask(url: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as response:
            answer = json.load(response)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unavailable(f"{url}: {error}") from error
    if not isinstance(answer, dict):
        raise Unavailable(f"{url} did not answer with an object")
    return answer


def _summary(index: str, advisory: str) -> str:
    """Return the first line of an advisory; its id stands for itself where that cannot be had."""
    try:
        found = _ask(f"{index}/v1/vulns/{advisory}")
    except Unavailable:
        return ""
    return str(found.get("summary") or found.get("details") or "").partition("\n")[0]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make audit", description=__doc__.partition("\n")[0])
    parser.add_argument("--index", default=INDEX, help="address of OSV or a mirror of it")
    parser.add_argument("--strict", action="store_true", help="fail if the index cannot be had")
    options = parser.parse_args(arguments)
    packages = purls(ROOT)
    try:
        found = advisories(options.index, packages)
    except Unavailable as error:
        print(f"NOT AUDITED: no advisories could be had for {len(packages)} packages: {error}", file=sys.stderr)
        return 2 if options.strict else 0
    for purl, ids in sorted(found.items()):
        for advisory in ids:
            print(f"{purl}: {advisory} {_summary(options.index, advisory)}".rstrip())
    print(f"{len(packages)} packages audited: {len(found)} with advisories")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
