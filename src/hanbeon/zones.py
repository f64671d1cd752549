"""Time zones by name: one rule for schedules, settings and every other input."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from hanbeon.errors import InvalidInput
from hanbeon.quotation import nearest
from hanbeon.rule import Rule

# Their meaning differs from machine to machine, or they name no place at all.
_NOT_ZONES = frozenset({"localtime", "posixrules", "Factory"})


@lru_cache(maxsize=1_024)
def zone_of(name: str) -> ZoneInfo:
    """Return the IANA zone of that name; an unknown one is rejected with the nearest names."""
    if name in _known():
        return ZoneInfo(name)
    raise InvalidInput(_rule(name[:60]), field="timezone")


def host_zone() -> str | None:
    """Return the IANA zone of this machine; None if it is not known by name."""
    named = [os.environ.get("TZ", "").removeprefix(":")]
    with contextlib.suppress(OSError):
        named.append(str(Path("/etc/localtime").resolve()).partition("/zoneinfo/")[2])
    with contextlib.suppress(OSError, UnicodeDecodeError):
        named.append(Path("/etc/timezone").read_text().strip())
    return next((name for name in named if name in _known()), None)


def check_not_naive(moment: dt.datetime, zone: ZoneInfo | None, field: str) -> None:
    """Reject a naive `datetime` object for which no zone was chosen: the default is seldom what its author expects."""
    if moment.tzinfo is None and zone is None:
        raise InvalidInput(Rule("naive_datetime", got=moment.isoformat(" ")), field=field)


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    return frozenset(available_timezones()) - _NOT_ZONES


def _rule(name: str) -> Rule:
    if name[:1] in ("+", "-") or name.upper().startswith(("UTC+", "UTC-", "GMT+", "GMT-")):
        return Rule("time_zone_offset", got=repr(name))
    by_fold = {known.casefold(): known for known in sorted(_known())}
    by_place = {folded.rpartition("/")[2]: known for folded, known in by_fold.items() if "/" in folded}
    folded = name.strip().casefold().replace(" ", "_")
    near = [found for table in (by_fold, by_place) if (found := table.get(folded))]
    near += [by_fold[each] for each in nearest(folded, by_fold, n=3, cutoff=0.6)]
    near += [by_place[each] for each in nearest(folded, by_place, n=2, cutoff=0.75)]
    if not near:
        return Rule("no_such_time_zone", got=repr(name))
    return Rule("unknown_time_zone", got=repr(name), near=list(dict.fromkeys(near))[:3])
