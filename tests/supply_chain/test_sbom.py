"""The bill of materials has every pin, with what CycloneDX requires of a component."""

from __future__ import annotations

import re

import pytest

from tools.pins import ROOT, npm_pins, python_pins
from tools.sbom import bill

_LENGTHS = {"SHA-256": 64, "SHA-512": 128}


def test_bill_has_every_pin_and_the_required_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    found = bill()
    assert found == bill()
    assert (found["bomFormat"], found["specVersion"], found["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", found["serialNumber"])
    assert found["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    assert found["metadata"]["component"]["type"] == "application"
    pins = [*python_pins((ROOT / "constraints.txt").read_text())]
    pins += npm_pins((ROOT / "dashboard/package-lock.json").read_text())
    components = found["components"]
    assert [each["purl"] for each in components] == [pin.purl for pin in pins]
    for each in components:
        assert each["type"] == "library"
        assert each["bom-ref"] == each["purl"]
        assert each["scope"] in {"required", "optional", "excluded"}
        assert [len(digest["content"]) for digest in each["hashes"]] == [_LENGTHS[it["alg"]] for it in each["hashes"]]
        # Only what is for another Python or system may lack what its metadata would say.
        assert "licenses" in each or "properties" in each
    references = {each["bom-ref"] for each in [found["metadata"]["component"], *components]}
    assert len(references) == 1 + len(components)
    assert {ref for each in found["dependencies"] for ref in [each["ref"], *each["dependsOn"]]} <= references


def test_bill_tells_what_users_get_from_what_developers_need() -> None:
    scopes = {each["name"]: each["scope"] for each in bill()["components"]}
    # Of extras of dependencies (`pyjwt[crypto]`, `psycopg[binary]`) and of the bundled page, too.
    expected = {"apsw": "required", "typer": "required", "pygments": "required", "preact": "required"}
    expected |= {"starlette": "optional", "cryptography": "optional", "cffi": "optional"}
    expected |= {"redis": "optional", "hiredis": "optional", "psycopg-binary": "optional"}
    expected |= {"pytest": "excluded", "esbuild": "excluded", "hatchling": "excluded"}
    assert {name: scopes[name] for name in expected} == expected
