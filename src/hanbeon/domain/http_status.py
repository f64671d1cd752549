"""The meaning of an HTTP status that is not a success, for the sender of the request."""

from __future__ import annotations

from hanbeon.domain.retry import FailureType

_KNOWN = {
    **dict.fromkeys((401, 403, 407), FailureType.PERMISSION_ERROR),
    **dict.fromkeys((408, 425, 429), FailureType.TEMPORARY),
}


def failure_type_of(status: int) -> FailureType:
    """Return the failure type: servers that cannot now are asked again, those that refuse are not."""
    return _KNOWN.get(status) or (FailureType.TEMPORARY if status >= 500 else FailureType.INVALID)
