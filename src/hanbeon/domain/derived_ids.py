"""Ids that are derived instead of drawn: a repeat of the same step gets the same id."""

from __future__ import annotations

import hashlib

_MILLIS = 1_000


def derived_id(instant_us: int, *parts: object) -> str:
    """Return a version 7 UUID with the time of `instant_us`, whose other bits depend on the parts alone."""
    seed = ":".join(str(part) for part in parts).encode()
    rest = bytearray(hashlib.blake2b(seed, digest_size=10).digest())
    rest[0] = rest[0] & 0x0F | 0x70
    rest[2] = rest[2] & 0x3F | 0x80
    digits = (instant_us // _MILLIS).to_bytes(6).hex() + rest.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
