"""The installation behind a server: its services have the methods, arguments and results of an App's."""

from __future__ import annotations

import functools
import os
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import msgspec

from hanbeon.client.calls import Fill, RetryConfig, call, sent
from hanbeon.client.client import RETRY_SECONDS, TIMEOUT_SECONDS, AsyncClient
from hanbeon.client.event_stream import follow
from hanbeon.client.problems import raised_as_by_app
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.surfaces.installation import Installation
from hanbeon.surfaces.moment import with_moments_as_text
from hanbeon.surfaces.operation import LOCAL, Channel, Operation
from hanbeon.surfaces.schema import Request
from hanbeon.surfaces.surface import Surface
from hanbeon.surfaces.validation import validate
from hanbeon.tasks.task import Task

_UPLOAD, _DOWNLOAD, _FOLLOW = "upload", "download", "follow"
_FOLLOWING = "following"
Method = Callable[..., Any]


class RemoteService:
    """The service of one surface of a server."""

    def __init__(self, transport: Any, retry: RetryConfig, methods: Mapping[str, Method]) -> None:
        self._transport, self._retry, self._methods = transport, retry, methods

    def __getattr__(self, name: str) -> Method:
        method = None if name.startswith("_") else self._methods.get(name)
        if method is None:
            raise AttributeError(f"a server has no method {name!r} here", name=name, obj=self)

        def bound(*args: Any, **fields: Any) -> Any:
            return method(self, *args, **fields)

        bound.__name__, bound.__doc__ = name, method.__doc__
        return bound

    def __dir__(self) -> list[str]:
        return sorted(self._methods)


def methods_of(surface: Surface) -> dict[str, Method]:
    """Return the methods of a surface's service that a server has, by name."""
    found: dict[str, Method] = {}
    for operation in surface.operations:
        name = _UPLOAD if operation.upload is not None else _DOWNLOAD if operation.downloads else operation.call
        if name not in found:  # The first of two paths to one method.
            found[name] = _transfer(operation) if name in (_UPLOAD, _DOWNLOAD) else _method(operation)
    for channel in surface.channels:
        if channel.call == _FOLLOWING and not channel.by:
            found[_FOLLOW] = _stream(channel)
    return found


def _method(operation: Operation) -> Method:
    async def method(service: RemoteService, *args: Any, **fields: Any) -> Any:
        return await _run(service, operation, fill_of(operation, args, fields))

    method.__doc__ = operation.summary
    return method


def _transfer(operation: Operation) -> Method:
    """A method that sends a file, or writes one that must not exist; its path is the last argument."""

    async def method(service: RemoteService, *args: Any, **fields: Any) -> Any:
        *ids, path = args
        fill = fill_of(operation, ids, fields)._replace(file=os.fspath(path))
        found = await _run(service, operation, fill)
        return path if operation.downloads else found

    method.__doc__ = operation.summary
    return method


def _stream(channel: Channel) -> Method:
    async def method(service: RemoteService, *args: Any, after: int | str = 0) -> Any:
        ids = {name: reference(name, value) for name, value in zip(channel.parameters, args, strict=True)}
        events = follow(service._retry, channel, Fill(ids, {"after": after}))
        with raised_as_by_app():
            async with aclosing(service._transport.each(events)) as found:
                async for event in found:
                    yield event

    method.__doc__ = channel.summary
    return method


async def _run(service: RemoteService, operation: Operation, fill: Fill) -> Any:
    with raised_as_by_app():
        return await service._transport.run(call(service._retry, operation, fill, part=operation.wrap))


def fill_of(operation: Operation, args: Sequence[Any], fields: Mapping[str, Any]) -> Fill:
    """Return the values of a call from the arguments of the service's method.

    The parameters of the path come by position, and perhaps the first fields of the body. The rest are keywords, under
    the names that Python uses.
    """
    parameters = operation.parameters
    if len(args) < len(parameters):
        raise TypeError(f"{operation.call}() requires {len(parameters)} arguments, got {len(args)}")
    ids = {name: reference(name, value) for name, value in zip(parameters, args, strict=False)}
    body_names = () if operation.request is None else positional_fields(operation.request)
    query_names = () if operation.query is None else operation.query.__struct_fields__
    given = _positional(operation, args[len(parameters) :], body_names) | dict(fields)
    expected = given.pop("expected", None) if operation.checks_version else None
    if operation.by and given.pop("by", LOCAL) != LOCAL:
        raise InvalidInput(Rule("user_of_token"), field="by")
    in_query = {name: given.pop(name) for name in query_names if name in given}
    if operation.request is None and given:
        raise TypeError(f"{operation.call}() has no parameter {next(iter(given))!r} over a server")
    body = None if operation.request is None else _validated(operation.request, given)
    query = {} if operation.query is None else _validated(operation.query, in_query)
    if operation.in_query:
        return Fill(ids, {**(body or {}), **query}, expected=expected)
    return Fill(ids, query, body, expected)


def positional_fields(request: type[msgspec.Struct]) -> list[str]:
    """Return the fields in the order in which services take them by position: the required ones first."""
    return [each.name for each in sorted(msgspec.structs.fields(request), key=lambda field: not field.required)]


def _positional(operation: Operation, rest: Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
    if len(rest) == 1 and _is_plain_struct(rest[0]):
        return dict(_json(rest[0]))  # Such as a ChainJob, whose fields are those of the request.
    if len(rest) > len(names):
        raise TypeError(f"{operation.call}() got {len(rest) - len(names)} arguments too many")
    return {name: value for name, value in zip(names, rest, strict=False) if value is not None}


def _validated(kind: type[msgspec.Struct], given: Mapping[str, Any]) -> dict[str, Any]:
    # A naive moment would be read in the zone of the server, which is not known here.
    fields = with_moments_as_text({name: _json(value) for name, value in given.items()}, None)
    made: dict[str, Any] = sent(validate(kind, fields))
    return made


def _json(value: Any) -> Any:
    """Return what Python callers pass as JSON has it: tasks by name, results by id."""
    match value:
        case Task():
            return value.name
        case msgspec.Struct() if hasattr(value, "id"):
            return value if isinstance(value, Request) else value.id
        case msgspec.Struct() if _is_plain_struct(value):
            return msgspec.structs.asdict(value)
        case list() | tuple():
            return [_json(each) for each in value]
        case _:
            return value


def _is_plain_struct(value: Any) -> bool:
    return isinstance(value, msgspec.Struct) and not isinstance(value, Request) and not hasattr(value, "id")


def reference(parameter: str, value: Any) -> Any:
    """Return the id in a path: of a result, or of a task, as well as the id itself."""
    if isinstance(value, Task):
        return value.name
    if isinstance(value, msgspec.Struct):
        own = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in parameter)
        return getattr(value, own, getattr(value, "id", value))
    return value


class RemoteInstallation(Installation):
    """An installation over HTTP, with the rights of a token; `async with` closes its connections."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retry_for: float = RETRY_SECONDS,
        verify: ssl.SSLContext | bool = True,
    ) -> None:
        """As for `AsyncClient`."""
        self.client = AsyncClient(url, token=token, timeout=timeout, retry_for=retry_for, verify=verify)

    def _service(self, surface: Surface) -> Any:
        return RemoteService(self.client._transport, self.client._retry, _methods(surface))

    async def close(self) -> None:
        await self.client.close()

    async def __aenter__(self) -> RemoteInstallation:
        return self


_methods = functools.cache(methods_of)
