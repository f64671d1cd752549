"""Human-readable durations."""

from __future__ import annotations


def brief(seconds: float | None) -> str:
    """Format a duration in at most two units: 340ms, 2.5s, 3m05s, 4h12m, 2d03h. None becomes an empty string."""
    if seconds is None:
        return ""
    if seconds < 0.9995:
        return f"{max(0.0, seconds) * 1000:.0f}ms"
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    for name, big, small, of in (("d", 86_400, 3_600, "h"), ("h", 3_600, 60, "m"), ("m", 60, 1, "s")):
        if whole >= big:
            return f"{whole // big}{name}{whole % big // small:02}{of}"
    return f"{whole}s"
