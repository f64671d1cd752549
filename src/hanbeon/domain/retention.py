"""The clock of retention: how far the database's time is trusted when rows are to be deleted."""

from __future__ import annotations

from typing import NamedTuple

_DAY_US = 86_400 * 1_000_000
_SHARE = 10
_LOOKS = 3


class SeenClock(NamedTuple):
    """The database's clock as the instances have seen it. All zero: never."""

    trusted_at: int = 0
    """The time that retention counts from."""
    steady_since: int = 0
    """Since when it has advanced without a jump."""
    seen_at: int = 0
    """The last time that was seen."""


def patience_us(retention_us: int, every_us: int) -> int:
    """Return how much later than the last time seen is no jump: a tenth of the retention, and a few looks at least."""
    return max(retention_us // _SHARE, _LOOKS * every_us)


def observe(seen: SeenClock, now: int, retention_us: int, every_us: int) -> SeenClock:
    """Return what is trusted after the clock shows `now`: a jump ahead only after a day without another.

    After the retention instead, if that is less than a day. Until then a jump moves the trusted time by a tenth of the
    retention at most. A clock that is set back is trusted at once, because it deletes less.
    """
    if not seen.seen_at:
        return SeenClock(now, now, now)
    patience = patience_us(retention_us, every_us)
    steady = 0 <= now - seen.seen_at <= patience
    since = seen.steady_since if steady else now
    if now <= seen.trusted_at + patience or (steady and now - since >= min(_DAY_US, retention_us)):
        trusted = now
    elif steady:
        trusted = seen.trusted_at
    else:
        trusted = seen.trusted_at + patience
    return SeenClock(trusted, since, now)
