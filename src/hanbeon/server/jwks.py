"""The keys of an issuer: a secret, a PEM file or a JWKS file. Files are reread when they change."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jwt
import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from hanbeon.errors import InvalidInput
from hanbeon.logs import get_logger
from hanbeon.rule import Rule

_log = get_logger("hanbeon.server")
_SECRET_BYTES = 32
_RSA_BITS = 2_048
_CHECK_SECONDS = 1.0
_MOST_BYTES = 1_048_576
_KINDS = "an RSA key of 2048 bits or more (RS256) or one of P-256 (ES256)"


class SigningKey(NamedTuple):
    """A key, the only algorithm that it is used with, and its key id, if it has one."""

    algorithm: str
    material: Any
    id: str | None = None


Keys = Callable[[], list[SigningKey]]


class KeyFile:
    """The keys of a file. If its new content is invalid, that is logged and the previous keys stay in force."""

    def __init__(self, setting: str, path: str) -> None:
        self._setting, self._path = setting, Path(path)
        self._checked_at = time.monotonic()
        self._seen, self._keys = self._read()

    def __call__(self) -> list[SigningKey]:
        if time.monotonic() - self._checked_at > _CHECK_SECONDS:
            self._checked_at = time.monotonic()
            self._reread()
        return self._keys

    def _reread(self) -> None:
        try:
            if _sign(os.stat(self._path)) == self._seen:
                return
            self._seen, self._keys = self._read()
            _log.info("keys_read", setting=self._setting, keys=len(self._keys))
        except (InvalidInput, OSError) as error:
            _log.warning("keys_unreadable", setting=self._setting, error=str(error))

    def _read(self) -> tuple[tuple[int, ...], list[SigningKey]]:
        try:
            with self._path.open("rb") as file:
                sign, content = _sign(os.fstat(file.fileno())), file.read(_MOST_BYTES + 1)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise InvalidInput(Rule("cannot_read_file", path=self._path, reason=why), field=self._setting) from error
        if len(content) > _MOST_BYTES:
            raise InvalidInput(Rule("key_too_large", path=self._path), field=self._setting)
        return sign, keys_of(self._setting, content)


def _sign(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def keys_of(setting: str, content: bytes) -> list[SigningKey]:
    """Read the keys from the value or the file of a setting. Errors name the setting and never quote its content."""
    try:
        if setting == "jwt_key_file":
            return [_public(content)]
        if setting == "jwt_jwks_file":
            return _set(content)
        return [_secret(content.strip())]
    except InvalidInput as error:
        raise InvalidInput(error.reason, field=setting) from None


def _secret(text: bytes) -> SigningKey:
    if len(text) < _SECRET_BYTES:
        raise InvalidInput(Rule("secret_too_short", least=_SECRET_BYTES, got=len(text)))
    return SigningKey("HS256", text)


def _public(pem: bytes) -> SigningKey:
    if b"PRIVATE KEY" in pem:
        raise InvalidInput(Rule("key_private"))
    try:
        found = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        raise InvalidInput(Rule("not_a_pem_key", kinds=_KINDS)) from None
    return _checked(found)


def _checked(material: Any, key_id: str | None = None) -> SigningKey:
    if isinstance(material, RSAPublicKey) and material.key_size >= _RSA_BITS:
        return SigningKey("RS256", material, key_id)
    if isinstance(material, EllipticCurvePublicKey) and isinstance(material.curve, SECP256R1):
        return SigningKey("ES256", material, key_id)
    raise InvalidInput(Rule("key_of_other_kind", kinds=_KINDS))


def _set(content: bytes) -> list[SigningKey]:
    try:
        jwks = msgspec.json.decode(content)
        listed = jwks["keys"]
        assert isinstance(listed, list)
    except (msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError, AssertionError, RecursionError):
        raise InvalidInput(Rule("must_be", what=Rule("jwks"))) from None
    found: list[SigningKey] = []
    for place, each in enumerate(listed):
        try:
            key = _of_set(each)
        except InvalidInput as error:
            raise InvalidInput(Rule("jwks_key", place=place, error=error)) from None
        if key is not None:
            found.append(key)
    if not found:
        raise InvalidInput(Rule("no_usable_key", count=len(listed)))
    names = [key.id for key in found]
    if len(found) > 1 and (None in names or len(set(names)) != len(names)):
        raise InvalidInput(Rule("key_ids_not_unique"))
    return found


def _of_set(jwk: Any) -> SigningKey | None:
    """Return one key of a set; None if it is for another purpose or algorithm."""
    if not isinstance(jwk, dict):
        raise InvalidInput(Rule("must_be", what=Rule("object")))
    if jwk.get("use", "sig") != "sig":
        return None
    if "d" in jwk:
        raise InvalidInput(Rule("key_private"))
    key_id = jwk.get("kid")
    if key_id is not None and not isinstance(key_id, str):
        raise InvalidInput(Rule("kid_not_string"))
    algorithm = {"RSA": "RS256", "EC": "ES256", "oct": "HS256"}.get(jwk.get("kty", ""))
    if algorithm is None or jwk.get("alg", algorithm) != algorithm or jwk.get("crv", "P-256") != "P-256":
        return None
    try:
        material = jwt.PyJWK(jwk, algorithm).key
    except Exception:
        raise InvalidInput(Rule("unreadable_key")) from None
    if isinstance(material, bytes):
        return _secret(material)._replace(id=key_id)
    return _checked(material, key_id)
