"""JWTs of a configured issuer: whose they are and what they may. Which algorithm counts is decided by the key alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import jwt

from hanbeon.domain.access import Scope
from hanbeon.domain.job import check_name
from hanbeon.errors import InvalidInput
from hanbeon.server.jwks import KeyFile, Keys, SigningKey, keys_of
from hanbeon.server.request import Principal
from hanbeon.settings import FILE, Settings

_LEEWAY_SECONDS = 30
_MOST = 8_192
_PARTS = 3
_CLAIMS = ["exp", "iss", "sub"]


class InvalidJwt(Exception):
    """A JWT that opens nothing; the message says why, and holds nothing of it that is secret."""


class Issuer:
    """Knows the tokens of one issuer."""

    def __init__(self, name: str, keys: Keys, audience: str | None, scope_claim: str) -> None:
        self._name, self._keys, self._audience, self._scope_claim = name, keys, audience, scope_claim

    def may_have_made(self, text: str) -> bool:
        """Whether it looks like a JWT, which none of our own tokens does."""
        return text.count(".") == _PARTS - 1

    def who(self, text: str) -> Principal:
        """Whose token this is; refused as InvalidJwt, whatever is wrong with it."""
        if len(text) > _MOST:
            raise InvalidJwt(f"the JWT is longer than {_MOST:,} characters")
        try:
            header = jwt.get_unverified_header(text)
            claims = self._verified(text, header)
        except InvalidJwt:
            raise
        except Exception as error:
            # Whatever a stranger's bytes do to the library ends here, and only the kind of it is told.
            raise InvalidJwt(_why(error)) from None
        return Principal(_user(claims["sub"]), self._scope(claims))

    def _verified(self, text: str, header: Mapping[str, Any]) -> Mapping[str, Any]:
        if "crit" in header:
            raise InvalidJwt("the JWT has critical extensions, and none is known here")
        key = self._key(header)
        if header.get("alg") != key.algorithm:
            raise InvalidJwt(f"the JWT's algorithm is not {key.algorithm}, which is that of its key")
        claims: Mapping[str, Any] = jwt.decode(
            text,
            key.material,
            algorithms=[key.algorithm],
            issuer=self._name,
            audience=self._audience,
            leeway=_LEEWAY_SECONDS,
            options={"require": _CLAIMS, "verify_aud": self._audience is not None},
        )
        return claims

    def _key(self, header: Mapping[str, Any]) -> SigningKey:
        known, wanted = self._keys(), header.get("kid")
        fitting = [key for key in known if wanted is None or key.id in (None, wanted)]
        if len(fitting) != 1:
            many = "says no kid, and there are several keys" if fitting else "is signed with a key that is not known"
            raise InvalidJwt(f"the JWT {many}")
        return fitting[0]

    def _scope(self, claims: Mapping[str, Any]) -> Scope:
        told = claims.get(self._scope_claim)
        words = told.split() if isinstance(told, str) else told if isinstance(told, list) else []
        for scope in Scope:  # The strongest first.
            if scope.value in words:
                return scope
        raise InvalidJwt(f"the JWT's claim {self._scope_claim!r} has none of {', '.join(Scope)}")


def issuer_of(settings: Settings) -> Issuer | None:
    """The issuer that the settings name, with its keys; None without one."""
    sources = {
        name: value
        for name in ("jwt_secret", "jwt_secret_file", "jwt_key_file", "jwt_jwks_file")
        if (value := getattr(settings, name)) is not None
    }
    if settings.jwt_issuer is None:
        for name in (*sources, *(["jwt_audience"] if settings.jwt_audience is not None else [])):
            raise InvalidInput("it says nothing without an issuer; set jwt_issuer too", field=name)
        return None
    if len(sources) != 1:
        raise InvalidInput(
            f"it needs one key, and {'there are ' + ' and '.join(sources) if sources else 'there is none'}; "
            "set one of jwt_secret, jwt_secret_file, jwt_key_file and jwt_jwks_file",
            field="jwt_issuer",
        )
    ((name, told),) = sources.items()
    keys: Keys = KeyFile(name, told) if name.endswith(FILE) else partial(_same, keys_of(name, told.encode()))
    return Issuer(settings.jwt_issuer, keys, settings.jwt_audience, settings.jwt_scope_claim)


def _same(keys: list[SigningKey]) -> list[SigningKey]:
    return keys


def _user(subject: Any) -> str:
    try:
        check_name("sub", subject, required=True)
    except InvalidInput as error:
        raise InvalidJwt(f"the JWT names nobody: {error}") from None
    return str(subject)


_REASONS: Mapping[type[Exception], str] = {
    jwt.ExpiredSignatureError: "the JWT has expired",
    jwt.ImmatureSignatureError: "the JWT is not valid yet",
    jwt.InvalidIssuerError: "the JWT is another issuer's",
    jwt.InvalidAudienceError: "the JWT is meant for another audience",
    jwt.MissingRequiredClaimError: f"the JWT lacks one of {', '.join(_CLAIMS)}",
    jwt.InvalidSignatureError: "the JWT's signature is wrong",
}


def _why(error: Exception) -> str:
    return next((why for kind, why in _REASONS.items() if isinstance(error, kind)), "the JWT cannot be read")
