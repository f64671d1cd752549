"""Secrets: read at use, only if declared, and masked in every text."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hanbeon.domain.masks import MASK, mask_values
from hanbeon.errors import InvalidInput, SecretUnavailable
from hanbeon.outbound.secrets import Secrets, SecretSource


def test_secrets_are_read_at_every_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = Secrets({"a": SecretSource(env="TEST_SECRET"), "b": SecretSource(file=str(tmp_path / "b"))})
    for value in ("첫째 비밀", "둘째 비밀"):
        monkeypatch.setenv("TEST_SECRET", value)
        (tmp_path / "b").write_text(f"  {value} of the file\r\n")
        assert (secrets.read("a"), secrets.read("b")) == (value, f"  {value} of the file")
    # Texts may still hold the one that was replaced.
    assert secrets.mask("was 첫째 비밀, is 둘째 비밀") == f"was {MASK}, is {MASK}"
    assert "비밀" not in repr(secrets)


def test_only_declared_names_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_OTHER", "geheim")
    secrets = Secrets({"token": SecretSource(env="TEST_SECRET")})
    for name in ("TEST_OTHER", "PATH", "/etc/passwd", "", "token.x"):
        with pytest.raises(SecretUnavailable, match="not declared"):
            secrets.read(name)
        with pytest.raises(InvalidInput, match="must name a declared secret"):
            secrets.check_name(name)


def test_unreadable_secrets_are_named_without_their_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_EMPTY", "")
    (tmp_path / "binary").write_bytes(b"geheim\xff")
    (tmp_path / "large").write_bytes(b"geheim" * 20_000)
    (tmp_path / "nul").write_bytes(b"geheim\x00")
    os.mkfifo(tmp_path / "pipe")
    sources = {
        "unset": (SecretSource(env="TEST_UNSET"), "is not set"),
        "empty": (SecretSource(env="TEST_EMPTY"), "is empty"),
        "absent": (SecretSource(file=str(tmp_path / "absent")), "does not exist"),
        "pipe": (SecretSource(file=str(tmp_path / "pipe")), "is not a regular file"),
        "binary": (SecretSource(file=str(tmp_path / "binary")), "must be UTF-8"),
        "large": (SecretSource(file=str(tmp_path / "large")), "must be at most"),
        "nul": (SecretSource(file=str(tmp_path / "nul")), "contains a NUL"),
    }
    secrets = Secrets({name: source for name, (source, _) in sources.items()})
    for name, (source, why) in sources.items():
        with pytest.raises(SecretUnavailable, match=f"the secret {name} cannot be read: {source} {why}") as error:
            secrets.read(name)
        assert "geheim" not in str(error.value)
    assert secrets.mask("a text stays as it is") == "a text stays as it is"


def test_masks_values_as_urls_and_json_write_them(monkeypatch: pytest.MonkeyPatch) -> None:
    value = 'pä"ss/w ort\\'
    monkeypatch.setenv("TEST_SECRET", value)
    secrets = Secrets({"token": SecretSource(env="TEST_SECRET")})
    for form in (value, quote(value, safe=""), json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
        assert secrets.mask(f"<{form}>") == f"<{MASK}>"


def test_masks_each_long_line_of_a_secret(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("-----BEGIN KEY-----\nMIIEvQIBADANBg\nab\n-----END KEY-----\n")
    secrets = Secrets({"key": SecretSource(file=str(tmp_path / "key"))})
    assert secrets.mask("line 2 is MIIEvQIBADANBg, grab") == f"line 2 is {MASK}, grab"


@pytest.mark.parametrize(
    ("text", "values", "shown"),
    [
        ("token abcdefgh", ["abcd", "abcdefgh"], f"token {MASK}"),
        ("abcdefgh", ["abcde", "defgh"], MASK),
        ("aaaaaa", ["aaaa"], MASK),
        # A short one is masked where it stands alone, and leaves words as they are.
        ("pin 42: 420 of 42", ["42"], f"pin {MASK}: 420 of {MASK}"),
        ("a banana", ["a"], f"{MASK} banana"),
        ("nothing", ["", "x"], "nothing"),
    ],
)
def test_masked_values(text: str, values: list[str], shown: str) -> None:
    assert mask_values(text, values) == shown


@given(st.lists(st.text("abc", min_size=4, max_size=8), max_size=4), st.text("abcx", max_size=60))
def test_no_masked_value_is_left(values: list[str], text: str) -> None:
    shown = mask_values(text, values)
    assert not any(value in shown for value in values)
