"""JWTs of a configured issuer: their user and scope. The key alone decides which algorithm is accepted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import jwt

from hanbeon.domain.access import Scope
from hanbeon.domain.job import check_name
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.server.jwks import KeyFile, Keys, SigningKey, keys_of
from hanbeon.settings import FILE, Settings

_LEEWAY_SECONDS = 30
_MOST = 8_192
_PARTS = 3
_CLAIMS = ["exp", "iss", "sub"]
_DATES = ("exp", "nbf", "iat")


class InvalidJwt(Exception):
    """An invalid JWT; the message says why and quotes nothing secret."""


class JwtOwner(NamedTuple):
    """The user of a JWT, and when it expires, in seconds since 1970."""

    user: str
    scope: Scope
    until: int


class Issuer:
    """Verifies the tokens of one issuer."""

    def __init__(self, name: str, keys: Keys, audience: str | None, scope_claim: str) -> None:
        self._name, self._keys, self._audience, self._scope_claim = name, keys, audience, scope_claim

    def may_have_made(self, text: str) -> bool:
        """Return true if the text has the form of a JWT, which our own tokens never have."""
        return text.count(".") == _PARTS - 1

    def who(self, text: str) -> JwtOwner:
        """Return the owner of a token; raises `InvalidJwt`, whatever is wrong with it."""
        if len(text) > _MOST:
            raise InvalidJwt(f"the JWT is longer than {_MOST:,} characters")
        try:
            header = jwt.get_unverified_header(text)
            claims = self._verified(text, header)
        except InvalidJwt:
            raise
        except Exception as error:
            # The library may raise anything on untrusted bytes; only the kind of the error is reported.
            raise InvalidJwt(_why(error)) from None
        return JwtOwner(_user(claims["sub"]), self._scope(claims), int(claims["exp"]))

    def _verified(self, text: str, header: Mapping[str, Any]) -> Mapping[str, Any]:
        if "crit" in header:
            raise InvalidJwt("the JWT has critical extensions, and none is supported")
        key = self._key(header)
        if header.get("alg") != key.algorithm:
            raise InvalidJwt(f"the JWT's algorithm must be {key.algorithm}, the algorithm of its key")
        claims: Mapping[str, Any] = jwt.decode(
            text,
            key.material,
            algorithms=[key.algorithm],
            issuer=self._name,
            audience=self._audience,
            leeway=_LEEWAY_SECONDS,
            options={"require": _CLAIMS, "verify_aud": self._audience is not None},
        )
        for name in _DATES:
            # The library also reads text as a number, which another reader of the same token may not.
            if name in claims and type(claims[name]) not in (int, float):
                raise InvalidJwt(f"the JWT's claim {name!r} must be a number of seconds since 1970")
        return claims

    def _key(self, header: Mapping[str, Any]) -> SigningKey:
        known, wanted = self._keys(), header.get("kid")
        fitting = [key for key in known if wanted is None or key.id in (None, wanted)]
        if len(fitting) != 1:
            many = "has no kid, and there are several keys" if fitting else "is signed with an unknown key"
            raise InvalidJwt(f"the JWT {many}")
        return fitting[0]

    def _scope(self, claims: Mapping[str, Any]) -> Scope:
        claim = claims.get(self._scope_claim)
        words = claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else []
        for scope in Scope:  # Strongest first.
            if scope.value in words:
                return scope
        raise InvalidJwt(f"the JWT's claim {self._scope_claim!r} has none of {', '.join(Scope)}")


def issuer_of(settings: Settings) -> Issuer | None:
    """Return the issuer that the settings name, with its keys; None without one."""
    sources = {
        name: value
        for name in ("jwt_secret", "jwt_secret_file", "jwt_key_file", "jwt_jwks_file")
        if (value := getattr(settings, name)) is not None
    }
    if settings.jwt_issuer is None:
        for name in (*sources, *(["jwt_audience"] if settings.jwt_audience is not None else [])):
            raise InvalidInput(Rule("no_effect_without_issuer"), field=name)
        return None
    if len(sources) != 1:
        raise InvalidInput(
            Rule("one_jwt_key", got=" and ".join(sources) if sources else "none"),
            field="jwt_issuer",
        )
    ((name, value),) = sources.items()
    keys: Keys = KeyFile(name, value) if name.endswith(FILE) else partial(_same, keys_of(name, value.encode()))
    return Issuer(settings.jwt_issuer, keys, settings.jwt_audience, settings.jwt_scope_claim)


def _same(keys: list[SigningKey]) -> list[SigningKey]:
    return keys


def _user(subject: Any) -> str:
    try:
        check_name("sub", subject, required=True)
    except InvalidInput as error:
        raise InvalidJwt(f"the JWT names no valid user: {error}") from None
    return str(subject)


_REASONS: Mapping[type[Exception], str] = {
    jwt.ExpiredSignatureError: "the JWT has expired",
    jwt.ImmatureSignatureError: "the JWT is not valid yet",
    jwt.InvalidIssuerError: "the JWT is from another issuer",
    jwt.InvalidAudienceError: "the JWT is for another audience",
    jwt.MissingRequiredClaimError: f"the JWT lacks one of {', '.join(_CLAIMS)}",
    jwt.InvalidSignatureError: "the JWT's signature is invalid",
}


def _why(error: Exception) -> str:
    return next((why for kind, why in _REASONS.items() if isinstance(error, kind)), "the JWT cannot be read")
