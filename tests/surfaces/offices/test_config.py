"""The config of an office: names, defaults and merging."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from hanbeon.surfaces.offices import config
from hanbeon.surfaces.offices.config import in_force, timeout_ms
from hanbeon.surfaces.offices.schemas import ConfigChange, JobSchedulerConfig
from hanbeon.surfaces.validation import validate

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


def merged(explicit: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    return config.merged(explicit, validate(ConfigChange, change))


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


def test_a_timeout_that_was_set_comes_before_that_of_the_role() -> None:
    minutes = {
        role: timeout_ms({}, role) // 60_000 for role in ("PO", "Architect", "FE", "BE", "QA", "DevOps", "", "X")
    }
    assert minutes == {"PO": 15, "Architect": 20, "FE": 30, "BE": 30, "QA": 45, "DevOps": 20, "": 30, "X": 30}
    # Equal to the default, but set explicitly.
    assert timeout_ms(merged({}, {"defaultTimeout": 1_800_000}), "QA") == 1_800_000
