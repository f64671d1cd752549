"""The secret of a webhook, and the key that it stands for."""

from __future__ import annotations

import base64
import binascii

from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.surfaces.offices.schemas import HOW_TO_MAKE_A_SECRET

_PREFIX = "whsec_"
_KEY_BYTES = range(24, 65)
"""The bounds of Standard Webhooks: fewer could be guessed, and libraries may reject more."""


def signing_key(secret: str) -> bytes:
    """Return the key of a secret: its bytes in base64, as libraries for Standard Webhooks read it, or else its text.

    One that begins like a secret of that standard and is none is rejected: it was copied badly. Errors do not quote it.
    """
    key = _decoded(secret.removeprefix(_PREFIX))
    if key is not None and len(key) in _KEY_BYTES:
        return key
    if secret.startswith(_PREFIX):
        got = None if key is None else len(key)
        raise InvalidInput(Rule("signing_secret", what=HOW_TO_MAKE_A_SECRET, got=got), field="secret")
    return secret.encode()


def _decoded(coded: str) -> bytes | None:
    coded = coded.rstrip("=")
    try:
        return base64.b64decode(coded + "=" * (-len(coded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
