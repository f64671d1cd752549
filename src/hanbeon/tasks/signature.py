"""A task's parameters: arguments are checked and become JSON when a job is made, and are read back typed."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from hanbeon.domain.json_text import to_json_text
from hanbeon.errors import ArgumentsDoNotFit, TaskDefinitionError
from hanbeon.quotation import plain, quoted
from hanbeon.rule import Rule
from hanbeon.tasks import parameter_schema
from hanbeon.tasks.model_type import ModelType, has_model
from hanbeon.tasks.model_type import why as why_not
from hanbeon.tasks.parameter_schema import Schema

_REFUSED = {
    inspect.Parameter.VAR_POSITIONAL: "*args",
    inspect.Parameter.VAR_KEYWORD: "**kwargs",
    inspect.Parameter.POSITIONAL_ONLY: "a positional-only parameter",
}

_OF_METHODS = ("self", "cls")


class Signature(Protocol):
    """The parameters of a task."""

    context_type: type | None

    def pack(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """Encode the arguments as JSON, checked against names and types."""
        ...

    def unpack(self, text: str) -> dict[str, Any]:
        """Decode the typed arguments from JSON."""
        ...

    def read_result(self, text: str) -> Any: ...

    def schema(self) -> Schema | None:
        """Return the parameters as the JSON Schema of an object; None if that is not known."""
        ...


class TaskSignature:
    """The parameters of a task's function, without its context."""

    def __init__(self, name: str, function: Callable[..., Any], context_types: tuple[type, ...]) -> None:
        self._name = name
        hints = _hints(name, function)
        parameters = list(inspect.signature(function).parameters.values())
        self.context_type: type | None = None
        if parameters and hints.get(parameters[0].name) in context_types:
            self.context_type = hints[parameters[0].name]
            parameters = parameters[1:]
        if parameters and parameters[0].name in _OF_METHODS and "." in function.__qualname__.rpartition("<locals>.")[2]:
            raise TaskDefinitionError(
                Rule("method_as_task", task=quoted(name), method=function.__qualname__, parameter=parameters[0].name)
            )
        for parameter in parameters:
            if parameter.kind in _REFUSED:
                raise TaskDefinitionError(Rule("unnamed_parameters", task=quoted(name), kind=_REFUSED[parameter.kind]))
        self._signature = inspect.Signature(parameters)
        # Once, not for each job: to quote takes longer than to encode the arguments.
        self._argument = f"an argument of task {quoted(name)}"
        self._names = tuple(self._signature.parameters)
        self._all_names = frozenset(self._names)
        self._by_name_only = any(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)
        self._has_defaults = any(parameter.default is not parameter.empty for parameter in parameters)
        self._models = {
            each.name: _model(name, hints[each.name]) for each in parameters if has_model(hints.get(each.name))
        }
        self._codec = _codec(name, parameters, hints | dict.fromkeys(self._models, Any))
        self._result: Any = hints.get("return", Any)
        self._result_model = _model(name, self._result) if has_model(self._result) else None

    def __str__(self) -> str:
        """As it would be written, without the context."""
        return str(self._signature)

    def pack(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """Encode the arguments as JSON, checked against names and types."""
        text = to_json_text(self._bind(args, kwargs), self._argument, "args")
        self._decode(text)
        return text

    def _bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Arguments by name. If there are as many as parameters, skip the slower path that explains a mismatch."""
        if not kwargs and len(args) == len(self._names) and not self._by_name_only:
            return dict(zip(self._names, args, strict=True))
        given: Any = kwargs  # Untyped callers may pass anything; the slower path reports it.
        if not args and isinstance(given, Mapping) and given.keys() == self._all_names:
            # In one order, whatever the caller's: the same arguments are the same text.
            return {name: kwargs[name] for name in self._names}
        try:
            return self._signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise ArgumentsDoNotFit(
                Rule(
                    "arguments_do_not_fit",
                    task=quoted(self._name),
                    reason=plain(str(error), 400),
                    signature=self._signature,
                ),
                field="args",
            ) from error

    def unpack(self, text: str) -> dict[str, Any]:
        """Decode the typed arguments from JSON."""
        decoded = self._decode(text)
        if not self._has_defaults:
            return msgspec.structs.asdict(decoded)
        names = self._names
        return {name: value for name in names if (value := getattr(decoded, name)) is not msgspec.UNSET}

    def _decode(self, text: str) -> Any:
        try:
            decoded = self._codec.decode(text)
            for name, model in self._models.items():
                if (value := getattr(decoded, name)) is not msgspec.UNSET:
                    setattr(decoded, name, model.validated(value))
            return decoded
        except (Exception, SystemExit) as error:
            # Any: the types are the user's, and run code of their own when they are made.
            found = str(error) if isinstance(error, msgspec.MsgspecError) else why_not(error)
            why = quoted(error) if found is None else plain(found, 400)
            raise ArgumentsDoNotFit(
                Rule("arguments_do_not_fit", task=quoted(self._name), reason=why, signature=self._signature),
                field="args",
            ) from error

    def read_result(self, text: str) -> Any:
        """Decode a result into the task's declared type, or as plain JSON if that fails."""
        try:
            if self._result_model is not None:
                return self._result_model.read(text)
            return msgspec.json.decode(text, type=self._result)
        except (ValueError, TypeError):
            return msgspec.json.decode(text)

    def schema(self) -> Schema | None:
        """Return the parameters as the JSON Schema of an object; None if that is not known."""
        own = {name: model.schema() for name, model in self._models.items()}
        return parameter_schema.of_struct(self._codec.type, self._signature.parameters, own)


def _hints(name: str, function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except (NameError, AttributeError, TypeError, SyntaxError) as error:
        raise TaskDefinitionError(Rule("unresolved_annotation", task=quoted(name), error=error)) from error


def _model(task: str, hint: Any) -> ModelType:
    try:
        return ModelType(hint)
    except Exception as error:  # Any: pydantic runs code of the models.
        raise TaskDefinitionError(Rule("parameter_not_json", task=quoted(task), error=error)) from error


def _codec(name: str, parameters: list[inspect.Parameter], hints: dict[str, Any]) -> msgspec.json.Decoder[Any]:
    """A decoder for the arguments. A missing one with a default is left to the function: defaults stay its own."""
    fields: list[Any] = []
    for parameter in parameters:
        kind = hints.get(parameter.name, Any)
        if parameter.default is inspect.Parameter.empty:
            fields.append((parameter.name, kind))
        else:
            fields.append((parameter.name, kind | msgspec.UnsetType if kind is not Any else Any, msgspec.UNSET))
    try:
        struct = msgspec.defstruct(f"Arguments_of_{name}", fields, kw_only=True, forbid_unknown_fields=True)
        return msgspec.json.Decoder(struct)
    except TypeError as error:
        raise TaskDefinitionError(Rule("parameter_not_json", task=quoted(name), error=error)) from error
