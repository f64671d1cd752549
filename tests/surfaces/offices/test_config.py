"""The config of an office: names, defaults, merging and bounds."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hanbeon.errors import InvalidInput
from hanbeon.surfaces.offices.config import JobSchedulerConfig, in_force, merged, timeout_ms

DEFAULTS = {
    "maxConcurrentJobs": 3,
    "maxConcurrentByRole": {"FE": 1, "BE": 1, "QA": 1, "DevOps": 1},
    "defaultTimeout": 1_800_000,
    "maxRetries": 2,
    "retryBackoff": "exponential",
    "retryBaseDelay": 60_000,
}
_limits = st.integers(1, 1000)
_changes = st.fixed_dictionaries(
    {},
    optional={
        "maxConcurrentJobs": _limits,
        "maxConcurrentByRole": st.dictionaries(
            st.sampled_from(["FE", "BE", "QA", "PO", "역할"]), st.none() | _limits, max_size=4
        ),
        "defaultTimeout": _limits,
        "maxRetries": st.integers(0, 9),
        "retryBackoff": st.sampled_from(["linear", "exponential"]),
        "retryBaseDelay": st.integers(0, 9),
    },
)


def _shown(explicit: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(in_force(explicit))
    return shown


def test_the_defaults_are_the_seeds() -> None:
    assert _shown({}) == DEFAULTS == msgspec.to_builtins(JobSchedulerConfig())


@given(st.lists(_changes, max_size=5))
def test_config_is_the_defaults_merged_with_every_change(changes: list[dict[str, Any]]) -> None:
    explicit: dict[str, Any] = {}
    expected: dict[str, Any] = {**DEFAULTS, "maxConcurrentByRole": dict(DEFAULTS["maxConcurrentByRole"])}  # type: ignore[call-overload]
    for change in changes:
        explicit = msgspec.json.decode(msgspec.json.encode(merged(explicit, change)))
        for name, value in change.items():
            if name == "maxConcurrentByRole":
                expected[name] |= value
            else:
                expected[name] = value
    expected["maxConcurrentByRole"] = {r: n for r, n in expected["maxConcurrentByRole"].items() if n is not None}
    assert _shown(explicit) == expected
    assert set(explicit) == {name for change in changes for name in change}


@given(_changes)
def test_the_same_change_again_changes_nothing_more(change: dict[str, Any]) -> None:
    once = merged({}, change)
    assert merged(once, change) == once


def test_null_takes_a_roles_limit_away_and_nothing_else() -> None:
    explicit = merged({}, {"maxConcurrentByRole": {"FE": None, "PO": 2}})
    assert in_force(explicit).maxConcurrentByRole == {"BE": 1, "QA": 1, "DevOps": 1, "PO": 2}
    assert in_force(explicit).limits == {"max_concurrent": 3, "roles": {"BE": 1, "QA": 1, "DevOps": 1, "PO": 2}}
    assert in_force(merged(explicit, {"maxConcurrentByRole": {"FE": 3}})).maxConcurrentByRole["FE"] == 3


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"maxConcurrentJobs": 0}, "maxConcurrentJobs"),
        ({"maxConcurrentJobs": 2**31}, "maxConcurrentJobs"),
        ({"maxConcurrentJobs": True}, "maxConcurrentJobs"),
        ({"maxConcurrentJobs": 1.5}, "maxConcurrentJobs"),
        ({"maxConcurrentJobs": None}, "maxConcurrentJobs"),
        ({"maxConcurrentJobs": "3"}, "maxConcurrentJobs"),
        ({"maxConcurrentByRole": None}, "maxConcurrentByRole"),
        ({"maxConcurrentByRole": [1]}, "maxConcurrentByRole"),
        ({"maxConcurrentByRole": {"FE": 0}}, "maxConcurrentByRole.FE"),
        ({"maxConcurrentByRole": {"": 1}}, "maxConcurrentByRole.role"),
        ({"maxConcurrentByRole": {"x" * 201: 1}}, "maxConcurrentByRole.role"),
        ({"maxConcurrentByRole": {"a\x00b": 1}}, "maxConcurrentByRole.role"),
        ({"defaultTimeout": 0}, "defaultTimeout"),
        ({"defaultTimeout": 10**18}, "defaultTimeout"),
        ({"maxRetries": -1}, "maxRetries"),
        ({"retryBaseDelay": -1}, "retryBaseDelay"),
        ({"retryBackoff": "quadratic"}, "retryBackoff"),
        ({"retryBackoff": ["linear"]}, "retryBackoff"),
    ],
)
def test_config_rejects_invalid_values_by_name(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        merged({}, change)
    assert refusal.value.field == f"config.{field}"


@pytest.mark.parametrize("value", [None, [], "x", 3])
def test_a_config_is_an_object(value: Any) -> None:
    with pytest.raises(InvalidInput):
        merged({}, value)


def test_the_bounds_themselves_fit() -> None:
    least = {"maxRetries": 0, "retryBaseDelay": 0, "defaultTimeout": 1, "maxConcurrentJobs": 1}
    assert merged({}, least) == least


def test_an_unknown_key_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'maxConcurrentJobs'"):
        merged({}, {"maxConcurentJobs": 5})


def test_a_timeout_that_was_set_comes_before_that_of_the_role() -> None:
    minutes = {
        role: timeout_ms({}, role) // 60_000 for role in ("PO", "Architect", "FE", "BE", "QA", "DevOps", "", "X")
    }
    assert minutes == {"PO": 15, "Architect": 20, "FE": 30, "BE": 30, "QA": 45, "DevOps": 20, "": 30, "X": 30}
    # The same number as the default, but somebody has set it.
    assert timeout_ms(merged({}, {"defaultTimeout": 1_800_000}), "QA") == 1_800_000
