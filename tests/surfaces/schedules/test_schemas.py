"""Requests of schedules that are rejected: with the field and the rule, without a database."""

from typing import Any

import pytest

from hanbeon.errors import InvalidInput
from hanbeon.surfaces.schedules import definitions, schemas
from hanbeon.surfaces.schedules.preview import plan_preview
from hanbeon.surfaces.validation import convert, given_fields
from hanbeon.zones import zone_of

ZONE = zone_of("Asia/Seoul")
NOW = 1_800_000_000_000_000
GOOD = {"task_id": "report", "cron": "0 9 * * *"}
BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "never fires": ({"cron": "0 0 30 2 *"}, "cron", "never fires"),
    "never fires, with seconds": ({"cron": "0 0 0 31 4 *"}, "cron", "for example 0 9 L 2 *"),
    "not a minute": ({"cron": "61 * * * *"}, "cron", "minute"),
    "too few fields": ({"cron": "* * *"}, "cron", "for example 0 9 * * MON-FRI"),
    "too many fields": ({"cron": "* * * * * * *"}, "cron", "no field for years"),
    "empty": ({"cron": ""}, "cron", "a cron expression, like"),
    "under a second": ({"cron": "*/0.5 * * * * *"}, "cron", ""),
    "every": ({"cron": "@every 100ms"}, "cron", "a second is the shortest"),
    "a step of nothing": ({"cron": "*/0 * * * *"}, "cron", ""),
    "unknown word": ({"cron": "@sometimes"}, "cron", "@daily"),
    "neither": ({"cron": None}, "cron", "for example"),
    "both": ({"cron": "@daily", "run_at": "2099-01-01T00:00:00Z"}, "run_at", "omit one of them"),
    "past": ({"cron": None, "run_at": "2020-01-01T00:00:00+09:00"}, "run_at", "choose a later instant, for example 20"),
    "impossible date": ({"cron": None, "run_at": "2027-02-30T09:00:00+09:00"}, "run_at", "like 2027-01-31T09:00:00"),
    "only a date": ({"cron": None, "run_at": "2027-02-20"}, "run_at", "must be a moment in ISO-8601"),
    "an offset with seconds": (
        {"cron": None, "run_at": "2027-02-20T09:00:00+08:27:52"},
        *("run_at", "must have an offset in hours and minutes, like +09:00"),
    ),
    "not a date": ({"cron": None, "run_at": "tomorrow"}, "run_at", "must be a moment in ISO-8601"),
    "a number": ({"cron": None, "run_at": 1_900_000_000}, "run_at", "must be a moment in ISO-8601"),
    "unknown zone": ({"timezone": "Asia/Soul"}, "timezone", "did you mean"),
    "offset as a zone": ({"timezone": "+09:00"}, "timezone", "must be an IANA time zone"),
    "zone by path": ({"timezone": "../../etc/passwd"}, "timezone", "must be an IANA time zone"),
    "no task": ({"task_id": None}, "task_id", "must be a string of 1 to 200 characters"),
    "task of a wrong type": ({"task_id": 7}, "task_id", ""),
    "unknown field": ({"timezon": "UTC"}, "timezon", "did you mean 'timezone'?"),
    "cron of a wrong type": ({"cron": ["* * * * *"]}, "cron", "must be a cron expression"),
    "args of a wrong type": ({"args": [1]}, "args", "must be an object, got [1]"),
    "overlap": ({"overlap": "maybe"}, "overlap", "queue_one"),
    "misfire": ({"misfire": "catch"}, "misfire", "coalesce"),
    "limit": ({"misfire_limit": 0}, "misfire_limit", "must be an integer from 1 to"),
    "limit as text": ({"misfire_limit": "10"}, "misfire_limit", "must be an integer from 1 to"),
    "jitter": ({"jitter": -1}, "jitter", "like 30 or '5m'"),
    "a long jitter": ({"jitter": "2d"}, "jitter", "0 to a day"),
    "jitter as a truth": ({"jitter": True}, "jitter", "must be a number or a string, got true"),
    "gap": ({"dst_gap": "later"}, "dst_gap", "fire"),
    "gap of an instant": ({"cron": None, "run_at": "2099-01-01T00:00:00Z", "dst_gap": "skip"}, "dst_gap", "cron"),
    "paused": ({"paused": "yes"}, "paused", "must be true or false, got 'yes'"),
    "ends before it starts": (
        {"starts_at": "2099-02-01T00:00:00Z", "ends_at": "2099-01-01T00:00:00Z"},
        "ends_at",
        "choose a later end",
    ),
    "ended": ({"ends_at": "2020-01-01T00:00:00Z"}, "ends_at", "never does until"),
    "an empty name": ({"name": ""}, "name", "must be a string of 1 to 200 characters"),
    "a long name": ({"name": "x" * 201}, "name", "must be a string of 1 to 200 characters"),
    "a name with NUL": ({"name": "a\0b"}, "name", "NUL"),
    "a giant cron": ({"cron": "* " * 100_000}, "cron", "at most 500"),
    "a hostile cron": ({"cron": "'; DROP TABLE hanbeon.schedule; --"}, "cron", "for example"),
    "full-width digits": ({"cron": "１ * * * *"}, "cron", "must not contain the character"),
}


def _check(kind: type[Any], body: dict[str, Any]) -> None:
    fields = given_fields(convert(kind, body))
    definitions.check_times(definitions.definition_of(fields, ZONE).timing, NOW)


@pytest.mark.parametrize("kind", [schemas.NewSchedule, schemas.ScheduleChange])
@pytest.mark.parametrize("name", BAD)
def test_rejects_invalid_fields(name: str, kind: type[Any]) -> None:
    body, field, words = BAD[name]
    _check(kind, GOOD)
    with pytest.raises(InvalidInput) as rejected:
        _check(kind, GOOD | body)
    assert rejected.value.field == field
    assert words in str(rejected.value)
    assert len(str(rejected.value)) < 1_000


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"cron": "0 0 30 2 *"}, "cron"),
        ({"cron": "@daily", "timezone": "Mars"}, "timezone"),
        ({"cron": "@daily", "n": 0}, "n"),
        ({"cron": "@daily", "n": 1_000_000}, "n"),
        ({"cron": "@daily", "from": "now"}, "from"),
        ({"cron": "@daily", "from": "1869-01-01T00:00:00Z"}, "from"),
        ({"cron": "@daily", "from": "0001-01-01T00:00:00+14:00"}, "from"),
        ({"cron": "@daily", "from": "2027-01-31T09:00:00+09:00:30"}, "from"),
        ({"cron": "@daily", "task_id": "report"}, "task_id"),
        ({}, "cron"),
    ],
)
def test_rejects_invalid_previews(body: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as rejected:
        plan_preview(convert(schemas.PreviewRequest, body), ZONE).fires(NOW)
    assert rejected.value.field == field


@pytest.mark.parametrize("body", [{"arg": {}}, {"args": 1}, [], None, "x", 3])
def test_rejects_invalid_manual_runs(body: Any) -> None:
    with pytest.raises(InvalidInput):
        convert(schemas.ManualRun, body)


def test_moments_keep_the_second_of_two_equal_times() -> None:
    from datetime import datetime

    from hanbeon.surfaces.schedules.references import as_json

    twice = datetime(2027, 11, 7, 1, 30, fold=1)
    fields = {"run_at": twice, "timezone": "America/New_York"}
    assert as_json(fields, ZONE)["run_at"] == "2027-11-07T01:30:00-05:00"
    assert as_json({"run_at": twice.replace(fold=0)}, ZONE)["run_at"] == "2027-11-07T01:30:00"


def test_moments_before_standard_time_are_shown_in_utc() -> None:
    """The clocks of Seoul were 8 hours, 27 minutes and 52 seconds ahead, an offset that RFC 3339 does not have."""
    (first, *_) = plan_preview(
        convert(schemas.PreviewRequest, {"cron": "@daily", "from": "1900-01-01T00:00:00Z"}), ZONE
    ).fires(NOW)
    assert first.at == "1900-01-01T15:32:08.000+00:00"
