"""Secrets by name: variables of the environment or files that `[secrets]` declares, and where each may be sent."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus

import msgspec

from hanbeon.domain.masks import mask_values
from hanbeon.errors import InvalidInput, SecretUnavailable
from hanbeon.outbound.origin import split_url
from hanbeon.quotation import nearest, quoted
from hanbeon.rule import Rule

HTTP_USE, TARGET_USE = "http", "target"
USES = (HTTP_USE, TARGET_USE)
"""In the request of an HTTP step; in the target of a message."""
_BELOW = "*."
_KIND = re.compile(r"[a-z][a-z0-9]*://", re.ASCII)
_PORT = re.compile(r":[0-9]+")
_EXAMPLE = "write a host like api.example.org, *.example.org, api.example.org:8443, or a kind of target like slack://"


class Destination(NamedTuple):
    """A receiver: a host, with its port where there is one, or a kind of target whose host is the service's own.

    `kind://` and more is a receiver that no declaration can name.
    """

    host: str
    port: int | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host and "://" not in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"


def check_hosts(value: Any) -> tuple[str, ...]:
    """Return the hosts of a declaration as they are compared."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not found or not all(isinstance(each, str) for each in found):
        raise InvalidInput(Rule("not_a_host_list", example=_EXAMPLE), field="hosts")
    return tuple(_host(each) for each in found)


def check_uses(value: Any) -> tuple[str, ...]:
    """Return the uses of a declaration."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not found or any(each not in USES for each in found):
        raise InvalidInput(Rule("must_be", what=Rule("list_of", items=USES), got=quoted(value)), field="use")
    return tuple(dict.fromkeys(found))


def is_among(hosts: Iterable[str], destination: Destination) -> bool:
    """True if one of the declared hosts is this destination. One without a port permits every port."""
    return any(_is(pattern, destination) for pattern in hosts)


def shown(hosts: Sequence[str]) -> str:
    return ", ".join(hosts)


def _host(text: str) -> str:
    if _KIND.fullmatch(text.lower()):
        return text.lower()
    below = text.startswith(_BELOW)
    wrong = InvalidInput(Rule("not_hosts", got=quoted(text), example=_EXAMPLE), field="hosts")
    try:
        origin, rest = split_url(f"https://{text.removeprefix(_BELOW)}", "hosts")
    except InvalidInput:
        raise wrong from None
    if rest or "*" in text.removeprefix(_BELOW):
        raise wrong
    with_port = _PORT.search(text.rpartition("]")[2]) is not None
    return (_BELOW if below else "") + str(Destination(origin.host, origin.port if with_port else None))


def _is(pattern: str, destination: Destination) -> bool:
    host = destination.host.lower()
    if _KIND.fullmatch(pattern) or "://" in host:
        return pattern == host
    if pattern in (str(Destination(host)), str(Destination(host, destination.port))):
        return True
    name, _, port = pattern.rpartition(":") if _PORT.search(pattern) and "]" not in pattern else (pattern, "", "")
    return (
        name.startswith(_BELOW)
        and host.endswith(name.removeprefix("*"))
        and len(host) >= len(name)
        and port in ("", str(destination.port))
    )


PREFIX = "secrets"
"""Templates name a secret as `{{ secrets.NAME }}`."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
_BYTES_MOST = 65_536
# Values that were replaced since, in case some text still holds one.
_REMEMBERED = 1_000
_LINE_LEAST = 8


class SecretSource(msgspec.Struct, frozen=True):
    """Where a secret is read: a variable of the environment, or a file."""

    env: str | None = None
    file: str | None = None
    hosts: tuple[str, ...] = ()
    """Where it may be sent. None: only by what an admin has saved, or, as a whole target, to where it says itself."""
    use: tuple[str, ...] = ()
    """By what it may be sent; none: by everything."""

    def __str__(self) -> str:
        return f"the variable {self.env}" if self.env is not None else f"the file {self.file}"


class Secrets:
    """The declared secrets of an App. Their values are read at every use, so that a rotation needs no restart.

    Nothing but a declared name can be read: no text of a client names a variable or a path. Values that were read are
    remembered for `mask`, also after a rotation.
    """

    def __init__(self, declared: Mapping[str, SecretSource] | None = None) -> None:
        self._declared = dict(declared or {})
        self._seen: dict[str, None] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Secrets({', '.join(sorted(self._declared))})"

    def declare(self, declared: Mapping[str, SecretSource]) -> None:
        """Replace the declarations."""
        self._declared = dict(declared)

    @property
    def names(self) -> Collection[str]:
        return sorted(self._declared)

    @property
    def sources(self) -> Mapping[str, SecretSource]:
        return self._declared

    def check_name(self, name: str, field: str | None = None) -> None:
        """Reject a name that is not declared."""
        if name not in self._declared:
            near = next(iter(nearest(name, self._declared)), None)
            raise InvalidInput(Rule("undeclared_secret", got=quoted(name), nearest=near), field=field)

    def check_use(
        self,
        name: str,
        use: str,
        destination: Destination | None,
        *,
        trusted: bool,
        whole: bool = False,
        field: str | None = None,
    ) -> None:
        """Reject a use that its declaration does not permit. `destination`: None where it shows when it is sent.

        `trusted`: an admin has saved it. `whole`: the secret is the target itself, and so says where it goes.
        """
        source = self._declared.get(name)
        if source is None:
            self.check_name(name, field)
            return
        if use not in (source.use or USES):
            raise InvalidInput(
                Rule("secret_for_other_use", name=name, uses=source.use, use=repr(use)),
                field=field,
            )
        if not source.hosts:
            if not trusted and not (whole and use in source.use):
                raise InvalidInput(
                    Rule("secret_needs_admin", name=name),
                    field=field,
                )
        elif destination is not None and not is_among(source.hosts, destination):
            raise InvalidInput(
                Rule("secret_not_for_host", name=name, place=str(destination), hosts=shown(source.hosts)), field=field
            )

    def hosts_of(self, name: str) -> tuple[str, ...]:
        """Return the hosts that it may be sent to; none: it declares none."""
        source = self._declared.get(name)
        return () if source is None else source.hosts

    def read(self, name: str) -> str:
        """Return the present value; raises SecretUnavailable without any part of a value."""
        source = self._declared.get(name)
        if source is None:
            raise SecretUnavailable(f"the secret {quoted(name)} is not declared in [secrets] of hanbeon.toml")
        value = _value(name, source)
        with self._lock:
            self._seen.pop(value, None)
            self._seen[value] = None
            while len(self._seen) > _REMEMBERED:
                del self._seen[next(iter(self._seen))]
        return value

    def problem(self, name: str) -> SecretUnavailable | None:
        """Return the error of reading it here, by this user; None if it can be read."""
        try:
            self.read(name)
        except SecretUnavailable as error:
            return error
        return None

    def mask(self, text: str) -> str:
        """Return the text with every value of a declared secret masked, as it is and as URLs and JSON write it."""
        for name, source in self._declared.items():
            try:
                _ = self.read(name) if _is_there(source) else None
            except SecretUnavailable:
                continue
        with self._lock:
            seen = list(self._seen)
        return mask_values(text, (form for value in seen for form in _forms(value))) if seen else text


def check_secret_name(name: str) -> None:
    if _NAME.fullmatch(name) is None:
        raise InvalidInput(Rule("must_be", what=Rule("secret_name"), got=quoted(name)))


def _is_there(source: SecretSource) -> bool:
    return source.env in os.environ if source.env is not None else os.path.isfile(source.file or "")


def _value(name: str, source: SecretSource) -> str:
    if source.env is not None:
        value = os.environ.get(source.env)
        if value is None:
            raise _unavailable(name, source, "is not set")
    else:
        value = _content(name, source)
    if not value:
        raise _unavailable(name, source, "is empty")
    if "\x00" in value:
        raise _unavailable(name, source, "contains a NUL character")
    return value


def _content(name: str, source: SecretSource) -> str:
    path = Path(source.file or "")
    try:
        if not path.is_file():  # A pipe or a device would block, or never end.
            raise _unavailable(name, source, "does not exist" if not path.exists() else "is not a regular file")
        with path.open("rb") as file:
            raw = file.read(_BYTES_MOST + 1)
    except OSError as error:
        raise _unavailable(name, source, f"cannot be read: {error.strerror}") from None
    if len(raw) > _BYTES_MOST:
        raise _unavailable(name, source, f"must be at most {_BYTES_MOST:,} bytes")
    try:
        return raw.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise _unavailable(name, source, "must be UTF-8") from None


def _unavailable(name: str, source: SecretSource, why: str) -> SecretUnavailable:
    return SecretUnavailable(f"the secret {name} cannot be read: {source} {why}")


def _forms(value: str) -> Iterator[str]:
    """The value as texts may write it; of several lines, each that is long enough to be recognised."""
    for text in (value, *(line for line in value.splitlines() if len(line) >= _LINE_LEAST)):
        yield from (text, quote(text, safe=""), quote(text), quote_plus(text))
        yield from (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1])
