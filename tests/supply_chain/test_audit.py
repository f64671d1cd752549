"""The audit reports advisories, and never passes off an audit that did not happen as a clean one."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.supply_chain.registry import served
from tools.audit import main, purls
from tools.pins import ROOT


def _index(vulnerable: str) -> Callable[[str, bytes], bytes | None]:
    def answer(path: str, body: bytes) -> bytes | None:
        if path == "/v1/vulns/OSV-2":
            return json.dumps({"id": "OSV-2", "summary": "Reads anything"}).encode()
        if path != "/v1/querybatch":
            return None
        return json.dumps({"results": [_result(query, vulnerable) for query in json.loads(body)["queries"]]}).encode()

    return answer


def _result(query: dict[str, object], vulnerable: str) -> dict[str, object]:
    """Answer in two pages, as OSV does where there is much."""
    if query["package"] != {"purl": vulnerable}:
        return {}
    return (
        {"vulns": [{"id": "OSV-2"}]} if "page_token" in query else {"vulns": [{"id": "OSV-1"}], "next_page_token": "x"}
    )


def test_audit_reports_every_advisory(capsys: pytest.CaptureFixture[str]) -> None:
    vulnerable = next(purl for purl in purls(ROOT) if purl.startswith("pkg:npm/%40preact/signals@"))
    with served(_index(vulnerable)) as address:
        assert main(["--index", address]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{vulnerable}: OSV-1",
        f"{vulnerable}: OSV-2 Reads anything",
        f"{len(purls(ROOT))} packages audited: 1 with advisories",
    ]


def test_audit_without_advisories_says_what_it_looked_up(capsys: pytest.CaptureFixture[str]) -> None:
    with served(_index("none")) as address:
        assert main(["--index", address, "--strict"]) == 0
    assert capsys.readouterr().out == f"{len(purls(ROOT))} packages audited: 0 with advisories\n"


@pytest.mark.parametrize("answer", [None, b"<html>", b"[]", b'{"results": []}'], ids=["404", "page", "list", "short"])
def test_audit_says_when_there_is_no_index(answer: bytes | None, capsys: pytest.CaptureFixture[str]) -> None:
    with served(lambda _path, _body: answer) as address:
        assert main(["--index", address]) == 0
        assert main(["--index", address, "--strict"]) == 2
    # Nobody listens there any more.
    assert main(["--index", address]) == 0
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count(f"NOT AUDITED: no advisories could be had for {len(purls(ROOT))} packages: {address}") == 3
