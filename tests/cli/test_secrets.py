"""`hanbeon secrets`: what can be read, and never a value."""

import json
from pathlib import Path

import pytest

from tests.cli.hanbeon import call


async def test_secrets_are_checked_and_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "hanbeon.toml"
    path.write_text('[secrets]\nsmtp = { env = "TEST_SMTP" }\nslack = { file = "slack" }\n')
    (tmp_path / "slack").write_text("geheim-slack\n")
    monkeypatch.delenv("TEST_SMTP", raising=False)
    found = await call("secrets", "check", "--config", str(path), "--json")
    assert found.code == 5
    assert [(each["name"], each["problem"] is None) for each in json.loads(found.out)["secrets"]] == [
        ("slack", True),
        ("smtp", False),
    ]
    assert "the variable TEST_SMTP is not set" in found.out
    found = await call("config", "check", "--config", str(path))
    assert (found.code, found.out) == (5, "")
    assert "error: the secret smtp cannot be read: the variable TEST_SMTP is not set" in found.err
    monkeypatch.setenv("TEST_SMTP", "geheim-smtp")
    for command in (("secrets", "check"), ("secrets", "list"), ("config", "show"), ("config", "check")):
        found = await call(*command, "--config", str(path))
        assert found.code == 0, found
        assert "geheim" not in f"{found.out} {found.err}"
        assert ("TEST_SMTP" in found.out) == (command[0] == "secrets")
