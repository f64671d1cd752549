"""Declared fields: conversion, bounds, order of errors, and what an immutable record can do."""

import pickle
from typing import Any

import pytest

from hanbeon.setting_fields import InvalidFields
from hanbeon.settings import Settings


def _messages(**given: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidFields) as caught:
        Settings(**given)
    return [(name, str(rule)) for name, rule in caught.value.broken]


@pytest.mark.parametrize(
    ("name", "written", "value"),
    [
        ("port", "8_080", 8_080),
        ("port", " 5 ", 5),
        ("port", "5.0", 5),
        ("port", 5.0, 5),
        ("lease", "1e1", 10.0),
        ("lease", 3, 3.0),
        ("tracing", "YES", True),
        ("tracing", "off", False),
        ("tracing", 1, True),
        ("processes", None, None),
        ("public_url", "https://jobs.example.org/", "https://jobs.example.org"),
    ],
)
def test_values_are_converted(name: str, written: Any, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = getattr(Settings(**{name: written}), name)
    assert (found, type(found)) == (value, type(value))
    if isinstance(written, str):
        monkeypatch.setenv(f"hanbeon_{name}", written)
        assert getattr(Settings(), name) == value


@pytest.mark.parametrize(
    ("name", "written", "message"),
    [
        ("port", "", "must be an integer from 0 to 65535, got ''"),
        ("port", "１２", "must be an integer from 0 to 65535, got '１２'"),
        ("port", "9" * 5_000, f"must be an integer from 0 to 65535, got '{'9' * 37}...{'9' * 38}'"),
        ("port", 1.5, "must be an integer from 0 to 65535, got 1.5"),
        ("port", float("nan"), "must be an integer from 0 to 65535, got nan"),
        ("port", 1e300, "must be an integer from 0 to 65535, got 1e+300"),
        ("port", None, "must be an integer from 0 to 65535, got None"),
        ("port", 65_536, "must be an integer from 0 to 65535, got 65536"),
        ("pool_size", 1, "must be an integer of at least 2, got 1"),
        ("lease", "１２", "must be a number above 0 and at most 3162240000, got '１２'"),
        ("lease", [], "must be a number above 0 and at most 3162240000, got []"),
        ("lease", 10**400, "must be a number above 0 and at most 3162240000, got an integer of 1,329 bits"),
        ("lease", "nan", "must be a number above 0 and at most 3162240000, got 'nan'"),
        ("lease", 0, "must be a number above 0 and at most 3162240000, got 0"),
        ("shutdown_grace", -1, "must be a number from 0 to 3162240000, got -1"),
        ("tracing", "maybe", "must be true or false, got 'maybe'"),
        ("tracing", None, "must be true or false, got None"),
        ("host", "", "must not be empty"),
        ("host", 5, "must be text, got 5"),
        ("public_url", "ftp://x", "must be http:// or https:// with a host, without user, query or fragment"),
        ("language", "fr", "must be one of en, ko, got 'fr'"),
    ],
)
def test_invalid_values_are_refused(name: str, written: Any, message: str) -> None:
    assert _messages(**{name: written}) == [(name, message)]


def test_errors_follow_the_order_of_the_fields() -> None:
    found = _messages(unknown=1, port=-1, stop_grace=9, jwt_secret=b"hush")
    assert [name for name, _ in found] == ["stop_grace", "port", "jwt_secret", "unknown"]
    assert found[-1] == ("unknown", "unknown setting")


def test_error_shows_no_value() -> None:
    with pytest.raises(InvalidFields) as caught:
        Settings(jwt_secret=["hush"])
    assert "hush" not in str(caught.value)


def test_record_is_immutable_and_hides_secrets() -> None:
    settings = Settings(jwt_secret="hush", lease=3)
    with pytest.raises(AttributeError, match="lease: a setting cannot be changed"):
        settings.lease = 4.0
    with pytest.raises(AttributeError, match="lease: a setting cannot be changed"):
        del settings.lease
    assert "lease=3.0" in repr(settings)
    assert "hush" not in repr(settings)


def test_record_is_copied_compared_and_pickled() -> None:
    settings = Settings(lease=3)
    other = settings.model_copy(update={"lease": 4.0})
    assert (other.lease, settings.lease) == (4.0, 3.0)
    assert other != settings
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert hash(settings) == hash(Settings(lease=3))
