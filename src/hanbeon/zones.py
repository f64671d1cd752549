"""Time zones by name: one rule for schedules, settings and every other input."""

from __future__ import annotations

from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from hanbeon.errors import InvalidInput
from hanbeon.quotation import nearest

# Their meaning differs from machine to machine, or they name no place at all.
_NOT_ZONES = frozenset({"localtime", "posixrules", "Factory"})


@lru_cache(maxsize=1_024)
def zone_of(name: str) -> ZoneInfo:
    """Return the IANA zone of that name; an unknown one is rejected with the nearest names."""
    if name in _known():
        return ZoneInfo(name)
    raise InvalidInput(f"must be an IANA time zone, got {name[:60]!r}{_hint(name[:60])}", field="timezone")


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    return frozenset(available_timezones()) - _NOT_ZONES


def _hint(name: str) -> str:
    if name[:1] in ("+", "-") or name.upper().startswith(("UTC+", "UTC-", "GMT+", "GMT-")):
        return "; an offset alone has no daylight saving rules: use a place like Asia/Seoul, or UTC"
    by_fold = {known.casefold(): known for known in sorted(_known())}
    by_place = {folded.rpartition("/")[2]: known for folded, known in by_fold.items() if "/" in folded}
    folded = name.strip().casefold().replace(" ", "_")
    near = [found for table in (by_fold, by_place) if (found := table.get(folded))]
    near += [by_fold[each] for each in nearest(folded, by_fold, n=3, cutoff=0.6)]
    near += [by_place[each] for each in nearest(folded, by_place, n=2, cutoff=0.75)]
    if not near:
        return "; use a name like Asia/Seoul or UTC"
    return "; did you mean " + " or ".join(list(dict.fromkeys(near))[:3]) + "?"
