"""An issuer of JWTs, as one outside would be."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

ISSUER = "https://issuer.example"
SECRET = "a secret of more than thirty-two bytes"
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())


def pem(key: Any) -> bytes:
    """The public key in PEM."""
    public: bytes = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return public


def private_pem(key: Any) -> bytes:
    private: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return private


def jwk(key: Any, **more: Any) -> dict[str, Any]:
    """The public key as one of a JWKS."""
    public = key.public_key()
    text = RSAAlgorithm.to_jwk(public) if isinstance(key, rsa.RSAPrivateKey) else ECAlgorithm.to_jwk(public)
    return {**json.loads(text), **more}


def jwks(path: Path, *keys: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"keys": keys}))
    return path


def claims(**changes: Any) -> dict[str, Any]:
    """What a good token says; None leaves a claim out."""
    given = {"iss": ISSUER, "sub": "ada", "scope": "read", "exp": int(time.time()) + 300, **changes}
    return {name: value for name, value in given.items() if value is not None}


def signed(key: Any, algorithm: str, headers: dict[str, Any] | None = None, **changes: Any) -> str:
    return jwt.encode(claims(**changes), key, algorithm, headers=headers)


def by_hand(header: dict[str, Any], payload: Any, key: bytes | None = None) -> str:
    """A token that no library would make: with any header, and an HMAC of any key or no signature at all."""
    text = f"{_part(header)}.{_part(payload)}"
    signature = b"" if key is None else hmac.new(key, text.encode(), hashlib.sha256).digest()
    return f"{text}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


def _part(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
