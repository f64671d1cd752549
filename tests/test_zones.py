"""Which zones there are, and what is said of others."""

import pytest

from hanbeon.errors import InvalidInput
from hanbeon.settings import load_settings
from hanbeon.zones import zone_of


@pytest.mark.parametrize("name", ["UTC", "Asia/Seoul", "America/Argentina/Buenos_Aires", "Etc/GMT-9"])
def test_a_zone_has_a_name_of_the_iana_list(name: str) -> None:
    assert zone_of(name).key == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Asia/Soul", "did you mean Asia/Seoul"),
        ("asia/seoul", "did you mean Asia/Seoul"),
        ("Seoul", "did you mean Asia/Seoul"),
        ("new york", "America/New_York"),
        ("Asia", "Asia"),
        ("", "use a name like Asia/Seoul"),
        ("+09:00", "an offset alone"),
        ("UTC+9", "an offset alone"),
        ("localtime", "must be an IANA time zone"),
        ("../../etc/passwd", "must be an IANA time zone"),
        ("/etc/localtime", "must be an IANA time zone"),
        ("Asia/Seoul\x00", "Asia/Seoul"),
        ("한국", "use a name like Asia/Seoul"),
        ("x" * 100_000, "must be an IANA time zone"),
    ],
)
def test_another_is_refused_with_the_nearest(name: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        zone_of(name)
    assert refused.value.field == "timezone"
    assert said in str(refused.value)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("name", ["localtime", "posixrules", "Factory", "Mars", "asia/seoul", "+09:00", ""])
def test_a_schedule_and_the_settings_refuse_the_same(name: str) -> None:
    with pytest.raises(InvalidInput) as of_settings:
        load_settings(timezone=name)
    with pytest.raises(InvalidInput) as of_schedule:
        zone_of(name)
    assert str(of_settings.value).startswith(str(of_schedule.value))
    assert of_settings.value.field == "timezone"
