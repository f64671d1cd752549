"""Results of the engine about the installation: its tokens and settings."""

from __future__ import annotations

from typing import Any

from hanbeon.domain.access import Scope
from hanbeon.surfaces.schema import Result


class Token(Result, frozen=True, kw_only=True):
    id: int
    user: str
    scope: Scope
    created_at: str
    last_used_at: str | None
    revoked_at: str | None


class CreatedToken(Token, frozen=True, kw_only=True):
    """`token` is shown this once."""

    token: str


class Tokens(Result, frozen=True, kw_only=True):
    items: list[Token]


class Setting(Result, frozen=True, kw_only=True):
    """`value` with secrets masked."""

    name: str
    value: Any
    default: Any
    description: str


class EngineSettings(Result, frozen=True, kw_only=True):
    items: list[Setting]
