"""Declared fields: conversion, bounds, order of errors, and what an immutable record can do."""

import pickle
from typing import Any

import pytest

from hanbeon.setting_fields import InvalidFields
from hanbeon.settings import Settings


def _messages(**given: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidFields) as caught:
        Settings(**given)
    return caught.value.messages


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
        ("port", "", "Input should be a valid integer, unable to parse string as an integer"),
        ("port", "１２", "Input should be a valid integer, unable to parse string as an integer"),
        ("port", "9" * 5_000, "Unable to parse input string as an integer, exceeded maximum size"),
        ("port", 1.5, "Input should be a valid integer, got a number with a fractional part"),
        ("port", float("nan"), "Input should be a finite number"),
        ("port", 1e300, "Unable to parse input string as an integer, exceeded maximum size"),
        ("port", None, "Input should be a valid integer"),
        ("port", 65_536, "Input should be less than or equal to 65535"),
        ("lease", "１２", "Input should be a valid number, unable to parse string as a number"),
        ("lease", [], "Input should be a valid number"),
        ("lease", 10**400, "Input should be a valid number"),
        ("lease", "nan", "Input should be a finite number"),
        ("lease", 0, "Input should be greater than 0"),
        ("tracing", "maybe", "Input should be a valid boolean, unable to interpret input"),
        ("tracing", None, "Input should be a valid boolean"),
        ("host", "", "String should have at least 1 character"),
        ("host", 5, "Input should be a valid string"),
        ("language", "fr", "must be en or ko, got 'fr'"),
    ],
)
def test_invalid_values_are_refused(name: str, written: Any, message: str) -> None:
    assert _messages(**{name: written}) == [(name, message)]


def test_errors_follow_the_order_of_the_fields() -> None:
    found = _messages(unknown=1, port=-1, stop_grace=9, jwt_secret=b"hush")
    assert [name for name, _ in found] == ["stop_grace", "port", "jwt_secret", "unknown"]
    assert found[-1] == ("unknown", "Extra inputs are not permitted")


def test_error_shows_no_value() -> None:
    with pytest.raises(InvalidFields) as caught:
        Settings(jwt_secret=["hush"])
    assert "hush" not in str(caught.value)


def test_record_is_immutable_and_hides_secrets() -> None:
    settings = Settings(jwt_secret="hush", lease=3)
    with pytest.raises(InvalidFields, match="lease: Instance is frozen"):
        settings.lease = 4.0
    with pytest.raises(InvalidFields, match="lease: Instance is frozen"):
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
