"""Actors: the user on whose behalf a request or a command runs, for the record of who did what."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

import msgspec

from hanbeon.domain.job import NAME_LIMIT
from hanbeon.ids import new_id
from hanbeon.quotation import plain

TARGET_LIMIT = 500


class Actor(msgspec.Struct, frozen=True):
    """A user at work. `id` is one for all transactions of a request, so that they share one row."""

    id: str
    user: str
    via: str
    """`rest` or `cli`."""
    action: str
    target: str | None = None


_current: ContextVar[Actor | None] = ContextVar("hanbeon_actor", default=None)
# Not a field of the actor: those are the columns of its record.
_admin: ContextVar[bool] = ContextVar("hanbeon_admin", default=True)


@contextlib.contextmanager
def acting(user: str, via: str, action: str, target: str | None = None, *, admin: bool = True) -> Iterator[None]:
    """Record what is written inside as this user's. So is what it starts in the background."""
    named = None if target is None else _storable(target, TARGET_LIMIT)
    actor = Actor(new_id(), _storable(user, NAME_LIMIT), via, _storable(action, NAME_LIMIT), named)
    before = _admin.set(admin)
    token = _current.set(actor)
    try:
        yield
    finally:
        _current.reset(token)
        _admin.reset(before)


def _storable(text: str, most: int) -> str:
    """Text that every database stores: the environment and the command line may hold bytes that are no UTF-8."""
    return plain(text[:most])[:most]


def current_actor() -> Actor | None:
    """The actor of this task or thread; None for the engine itself, and for programs that use it as a library."""
    return _current.get()


def current_user() -> str | None:
    """The name of the user of this task or thread, if it acts for one."""
    actor = current_actor()
    return None if actor is None else actor.user


def is_admin() -> bool:
    """True unless a request of a lesser scope is being handled: programs that use the library may do everything."""
    return _admin.get()


@contextlib.contextmanager
def nobody() -> Iterator[None]:
    """Record nothing inside: it is upkeep, which a reader may do on the way."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)
