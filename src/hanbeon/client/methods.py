"""Methods of clients, derived from operations: where each is found, what it takes, and the flow that it runs."""

from __future__ import annotations

import keyword
import os
from collections.abc import Iterator, Mapping
from inspect import Parameter, Signature
from typing import Any, NamedTuple

import msgspec

from hanbeon.client.calls import Fill, RetryConfig, call, each_of, gathered, wait
from hanbeon.client.event_stream import follow
from hanbeon.client.flow import Flow, Stream
from hanbeon.surfaces.moment import with_moments_as_text
from hanbeon.surfaces.operation import Channel, Operation
from hanbeon.surfaces.surface import Surface

_API = "/api/"
_OF_ALL = {"GET": "list", "POST": "create"}
_OF_ONE = {"GET": "get", "PATCH": "change", "DELETE": "delete"}
_PAGED, _ITEMS = "next_cursor", "items"
_CURSOR = "cursor"


class Binding(NamedTuple):
    """Where a method is found: its resource, the parameter of the path that names one of these, and its name."""

    resource: str
    id: str | None
    name: str


class ClientMethod:
    """One method of a resource."""

    streams = False
    """Iterates over many results instead of returning one."""

    def __init__(self, operation: Operation, binding: Binding) -> None:
        self.operation, self.binding = operation, binding
        self.doc = operation.summary
        self.fields = dict(_fields(operation))
        self.query_fields = () if operation.query is None else operation.query.__struct_encode_fields__
        self.signature = Signature([Parameter("self", Parameter.POSITIONAL_ONLY), *self._parameters()])

    def run(self, retry: RetryConfig, fill: Fill) -> Flow[Any] | Stream[Any]:
        return call(retry, self.operation, fill, part=self.operation.client.part)

    def fill(self, ids: Mapping[str, Any], given: Mapping[str, Any]) -> Fill:
        """The values of a call, from its arguments by name."""
        operation = self.operation
        own = {name: given[argument_of(name)] for name in operation.parameters if name != self.binding.id}
        if operation.client.body is not None:
            body: Mapping[str, Any] | None = given[operation.client.body]
        else:
            fields = {field.encode_name: given[name] for name, field in self.fields.items() if name in given}
            # A naive moment would be read in the zone of the server, which is not known here.
            body = with_moments_as_text(fields, None)
        in_query = operation.in_query or operation.request is None
        query = {name: given[name] for name in self.query_fields}
        return Fill(
            ids={**ids, **own},
            query={**(body or {}), **query} if in_query else query,
            body=None if in_query else body,
            expected=given.get("expected"),
            key=given.get("idempotency_key"),
        )

    def _parameters(self) -> Iterator[Parameter]:
        """Ids and required fields may be given by position, all others by name only."""
        operation, named = self.operation, []
        for name in operation.parameters:
            if name != self.binding.id:
                yield Parameter(argument_of(name), Parameter.POSITIONAL_OR_KEYWORD)
        if operation.client.body is not None:
            yield Parameter(operation.client.body, Parameter.POSITIONAL_OR_KEYWORD)
        else:
            for name, field in self.fields.items():
                if field.required:
                    yield Parameter(name, Parameter.POSITIONAL_OR_KEYWORD)
                else:
                    # In a query null means nothing; in a body it is a value.
                    default = None if operation.in_query else msgspec.UNSET
                    named.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default))
        named += [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in self.query_fields]
        if operation.creates:
            named.append(Parameter("idempotency_key", Parameter.KEYWORD_ONLY, default=None))
        if operation.checks_version:
            named.append(Parameter("expected", Parameter.KEYWORD_ONLY, default=None))
        yield from named


class Transfer(ClientMethod):
    """Sends a file, or writes one: `file` is its path."""

    def fill(self, ids: Mapping[str, Any], given: Mapping[str, Any]) -> Fill:
        return super().fill(ids, given)._replace(file=os.fspath(given["file"]))

    def _parameters(self) -> Iterator[Parameter]:
        yield Parameter("file", Parameter.POSITIONAL_OR_KEYWORD)
        yield from super()._parameters()


class Pages(ClientMethod):
    """Iterates over a list, page by page; `limit` is the size of a page, `cursor` where the first one begins."""

    streams = True

    def run(self, retry: RetryConfig, fill: Fill) -> Stream[Any]:
        return each_of(retry, self.operation, fill)


class Gathered(ClientMethod):
    """Returns all pages of what is no plain list, such as a graph, as one."""

    def run(self, retry: RetryConfig, fill: Fill) -> Flow[Any]:
        return gathered(retry, self.operation, fill)


class Wait(ClientMethod):
    """Polls until the resource has ended, and returns it; raises after `timeout` seconds, if that is given."""

    def __init__(self, operation: Operation, binding: Binding) -> None:
        super().__init__(operation, binding._replace(name="wait"))
        self.doc = "Wait until it has ended; raises if that takes longer than `timeout` seconds."

    def fill(self, ids: Mapping[str, Any], given: Mapping[str, Any]) -> Fill:
        return super().fill(ids, given)._replace(timeout=given["timeout"])

    def run(self, retry: RetryConfig, fill: Fill) -> Flow[Any]:
        return wait(retry, self.operation, fill)

    def _parameters(self) -> Iterator[Parameter]:
        yield from super()._parameters()
        yield Parameter("timeout", Parameter.KEYWORD_ONLY, default=None)


class Events(ClientMethod):
    """Iterates over events without end; reconnects when the connection is lost."""

    streams = True

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        name = channel.sse.rsplit("/", 1)[1]
        operation = Operation("GET", channel.sse, channel.need, name, channel.summary)
        super().__init__(operation, binding_of(operation))
        self.doc = "Iterate over the events after `after` without end; reconnects when the connection is lost."

    def fill(self, ids: Mapping[str, Any], given: Mapping[str, Any]) -> Fill:
        return super().fill(ids, given)._replace(query={"after": given["after"]})

    def run(self, retry: RetryConfig, fill: Fill) -> Stream[Any]:
        return follow(retry, self.channel, fill)

    def _parameters(self) -> Iterator[Parameter]:
        yield from super()._parameters()
        yield Parameter("after", Parameter.KEYWORD_ONLY, default=0)


def methods_of(surface: Surface) -> Iterator[ClientMethod]:
    """All methods that clients have of a surface."""
    for operation in surface.operations:
        binding = binding_of(operation)
        response = next(iter(operation.responses.values()), None)
        fields = getattr(response, "__struct_fields__", ())
        if operation.upload is not None or operation.downloads:
            yield Transfer(operation, binding)
        elif _PAGED not in fields:
            yield ClientMethod(operation, binding)
        elif _ITEMS in fields:
            yield Pages(operation, binding)
        else:
            yield Gathered(operation, binding)
        if operation.client.ended is not None:
            yield Wait(operation, binding)
    for channel in surface.channels:
        yield Events(channel)


def binding_of(operation: Operation) -> Binding:
    """By the rules of `ClientCall`, or as the operation says."""
    collection, *rest = operation.path.removeprefix(_API).split("/")
    own = operation.parameters[0] if rest and rest[0].startswith("{") else None
    by_verb = _OF_ALL if own is None else _OF_ONE
    at_root = len(rest) == (0 if own is None else 1)
    name = by_verb.get(operation.method, operation.call) if at_root else operation.call
    resource = collection if own is None else collection.removesuffix("s")
    return Binding(operation.client.resource or resource, own, operation.client.method or name)


def argument_of(parameter: str) -> str:
    """`job` for the parameter `jobId` of a path: a client takes the job or its id."""
    return parameter.removesuffix("Id").removesuffix("_id") or parameter


def _fields(operation: Operation) -> Iterator[tuple[str, msgspec.inspect.Field]]:
    """The fields of the request by their names in it; one that is a keyword of Python by its name in the struct."""
    if operation.request is None or operation.client.body is not None:
        return
    info: Any = msgspec.inspect.type_info(operation.request)
    response = next(iter(operation.responses.values()), None)
    fields = getattr(response, "__struct_fields__", ())
    gathered = _PAGED in fields and _ITEMS not in fields
    for field in info.fields:
        if not (gathered and field.encode_name == _CURSOR):  # All pages are one.
            yield (field.name if keyword.iskeyword(field.encode_name) else field.encode_name), field


def bound_arguments(method: ClientMethod, resource: object, args: Any, named: Any) -> dict[str, Any]:
    """The arguments of a call by name, defaults included."""
    bound = method.signature.bind(resource, *args, **named)
    bound.apply_defaults()
    return dict(bound.arguments)
