"""Moments of requests that cannot be shown again are refused."""

from zoneinfo import ZoneInfo

import pytest

from hanbeon.clock import iso
from hanbeon.errors import InvalidInput
from hanbeon.surfaces.moment import instant_of

SEOUL = ZoneInfo("Asia/Seoul")


@pytest.mark.parametrize(
    "text", ["0001-01-01T00:00:00", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "9999-12-31T24:00:00Z"]
)
def test_rejects_moments_outside_the_calendar(text: str) -> None:
    with pytest.raises(InvalidInput, match="must be a moment"):
        instant_of(text, "from", SEOUL)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"])
def test_moments_at_the_ends_of_the_calendar_can_be_shown(text: str) -> None:
    for zone in (SEOUL, ZoneInfo("UTC"), ZoneInfo("Pacific/Pago_Pago")):
        assert iso(instant_of(text, "from", zone), zone)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "2027-01-31T09:00:00+09:00",
            "2027-01-31T09:00:00 09:00",
            "2027-01-31 09:00 0900",
            "2027-01-31T09:00:00.000 09:00",
        ),
        *("2027-01-31T09:00", "2027-01-31 09:00:00", "2027-01-31t00:00:00z", "20270131T000000Z"),
    ],
)
def test_spellings_of_a_moment_are_the_same_instant(text: str) -> None:
    """With a space for the `+` that a query did not escape, too."""
    assert iso(instant_of(text, "from", SEOUL), SEOUL, "milliseconds") == "2027-01-31T09:00:00.000+09:00"


@pytest.mark.parametrize("text", ["2027-01-31", "09:00 09:00", "2027-01-31T09:00:00 9:00", "1801353600"])
def test_rejects_what_is_no_moment(text: str) -> None:
    with pytest.raises(InvalidInput, match="must be a moment"):
        instant_of(text, "from", SEOUL)
