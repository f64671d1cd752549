"""Parameters of a task that is not a Python function: declared by name and type, or taken from its placeholders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from hanbeon.domain.json_text import to_json_text
from hanbeon.errors import ArgumentsDoNotFit, InvalidInput
from hanbeon.extras import extra
from hanbeon.quotation import quoted, suggested
from hanbeon.rule import Rule
from hanbeon.tasks.options import check_names
from hanbeon.tasks.parameter_schema import Schema, bounded
from hanbeon.tasks.template import as_text


class Pattern:
    """A compiled expression of RE2.

    Not of `re`: that tries one way after the other, and 40 characters can keep it busy, and with it the whole process,
    for years.
    """

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    def matches(self, value: str) -> bool:
        """True if the whole value matches."""
        return self._compiled.fullmatch(value) is not None


@lru_cache(maxsize=1_024)
def pattern_of(text: Any) -> Pattern:
    """Compile an expression; ValueError or TypeError says what is wrong with it."""
    if not isinstance(text, str):
        raise TypeError("it is not a text")
    with extra("patterns", "a parameter with a pattern"):
        import re2
    options = re2.Options()
    options.log_errors = False  # They are raised; the log would be the process's standard error.
    try:
        return Pattern(re2.compile(text, options))
    except re2.error as error:
        (said,) = error.args
        raise ValueError(said.decode(errors="replace") if isinstance(said, bytes) else said) from error


_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list[Any],
    "object": dict[str, Any],
    "any": Any,
}
_REQUIRED: Any = object()
_WITH_PATTERN = ("string",)
_WITH_CHOICES = ("string", "integer", "number")


class Parameter(msgspec.Struct, frozen=True):
    """One parameter; without a default it must be given.

    `pattern` is a regular expression that the whole value must match, `choices` lists the values there are.
    """

    type: str = "any"
    default: Any = _REQUIRED
    pattern: str | None = None
    choices: tuple[Any, ...] | None = None

    @property
    def is_required(self) -> bool:
        return self.default is _REQUIRED

    def __str__(self) -> str:
        return self.type if self.is_required else f"{self.type} = {as_text(self.default)}"

    def schema(self) -> Schema:
        """Return it as a JSON Schema."""
        found: Schema = {} if self.type == "any" else {"type": self.type}
        if not self.is_required:
            found["default"] = self.default
        if self.pattern is not None:
            found["pattern"] = f"^(?:{self.pattern})$"
        return found if self.choices is None else {**found, "enum": self.choices}

    def check(self, value: Any) -> None:
        """Raise for a value that it does not take: `ValidationError` for another type, `ValueError` otherwise."""
        msgspec.convert(value, _TYPES[self.type])
        if self.choices is not None and value not in self.choices:
            raise ValueError(f"must be one of {', '.join(map(as_text, self.choices))}, got {quoted(value)}")
        # The whole value: with `search` or `match`, a pattern without anchors would let "../x" through.
        if self.pattern is not None and not pattern_of(self.pattern).matches(value):
            raise ValueError(f"must match {quoted(self.pattern)} as a whole, got {quoted(value)}")


class Parameters:
    """Arguments by name. `None` declares nothing: any may be given, and those in `places` must be."""

    context_type: type | None = None

    def __init__(self, task: str, declared: Mapping[str, Any] | None, places: Iterable[str]) -> None:
        self._task = task
        self._places = tuple(dict.fromkeys(places))
        self._declared = None if declared is None else {name: _parameter(name, it) for name, it in declared.items()}
        if self._declared is not None:
            for name in self._places:
                if name not in self._declared:
                    near = suggested(name, self._declared)
                    raise InvalidInput(Rule("used_not_declared", name=name, nearest=near), field="params")

    def __str__(self) -> str:
        if self._declared is None:
            return f"({', '.join([*self._places, '…'])})"
        return f"({', '.join(f'{name}: {each}' for name, each in self._declared.items())})"

    def pack(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """Encode the arguments as JSON, checked against names and types."""
        if args:
            raise self._invalid(Rule("by_name_only"))
        text = to_json_text(dict(kwargs), f"an argument of task {quoted(self._task)}", "args")
        self.unpack(text)
        return text

    def unpack(self, text: str) -> dict[str, Any]:
        """Decode the arguments from JSON, with the defaults of those that are missing."""
        try:
            given = msgspec.json.decode(text, type=dict[str, Any])
        except (msgspec.MsgspecError, RecursionError) as error:
            raise self._invalid(Rule("arguments_not_object", error=error)) from error
        found = given if self._declared is None else self._complete(self._declared, given)
        for name in self._places:
            if name not in found:
                raise self._invalid(Rule("argument_missing", name=quoted(name)))
            if found[name] is None:
                raise self._invalid(Rule("argument_null", name=quoted(name)))
            if "\x00" in as_text(found[name]):
                raise self._invalid(Rule("argument_with_nul", name=quoted(name)))
        return found

    def read_result(self, text: str) -> Any:
        return msgspec.json.decode(text)

    def schema(self) -> Schema | None:
        """Return the parameters as the JSON Schema of an object."""
        if self._declared is None:
            return bounded(
                {"type": "object", "properties": {name: {} for name in self._places}, "required": self._places}
            )
        required = [name for name, each in self._declared.items() if each.is_required]
        properties = {name: each.schema() for name, each in self._declared.items()}
        return bounded(
            {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        )

    def _complete(self, declared: Mapping[str, Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
        for name in given:
            if name not in declared:
                raise self._invalid(Rule("no_such_parameter", name=quoted(name), nearest=suggested(name, declared)))
        found = {}
        for name, parameter in declared.items():
            if name not in given and parameter.is_required:
                raise self._invalid(Rule("argument_missing", name=quoted(name)))
            found[name] = given.get(name, parameter.default)
            try:
                parameter.check(found[name])
            except (msgspec.ValidationError, ValueError) as error:
                raise self._invalid(Rule("wrong_argument", name=quoted(name), error=error)) from error
        return found

    def _invalid(self, why: Rule) -> ArgumentsDoNotFit:
        return ArgumentsDoNotFit(
            Rule("arguments_do_not_fit", task=quoted(self._task), reason=why, signature=self), field="args"
        )


def _parameter(name: str, value: Any) -> Parameter:
    field = f"params.{name}"
    if isinstance(value, Mapping):
        check_names(value, Parameter.__struct_fields__, f"parameter {quoted(name)}")
        parameter = Parameter(**{**value, **_choices(value, field)})
    else:
        parameter = Parameter(value)
    if str(parameter.type) not in _TYPES:
        got, near = quoted(parameter.type), suggested(str(parameter.type), _TYPES)
        raise InvalidInput(Rule("must_be", what=Rule("one_of", choices=_TYPES), got=got, nearest=near), field=field)
    _check_rules(parameter, field)
    if not parameter.is_required:
        try:
            parameter.check(parameter.default)
        except msgspec.ValidationError as error:
            raise InvalidInput(Rule("default_of_other_type", error=error), field=field) from error
        except ValueError as error:
            raise InvalidInput(Rule("default_not_taken", error=error), field=field) from error
    return parameter


def _choices(value: Mapping[str, Any], field: str) -> dict[str, Any]:
    if "choices" not in value:
        return {}
    choices = value["choices"]
    if not isinstance(choices, list | tuple) or not choices:
        raise InvalidInput(Rule("must_be", what=Rule("value_list"), got=quoted(choices)), field=f"{field}.choices")
    return {"choices": tuple(choices)}


def _check_rules(parameter: Parameter, field: str) -> None:
    """Reject a pattern or choices that no value, or not every value they mean, could satisfy."""
    for name, given, types in (
        ("pattern", parameter.pattern, _WITH_PATTERN),
        ("choices", parameter.choices, _WITH_CHOICES),
    ):
        if given is not None and parameter.type not in types:
            raise InvalidInput(Rule("type_not_fitting", types=types, got=parameter.type), field=f"{field}.{name}")
    for choice in parameter.choices or ():
        try:
            msgspec.convert(choice, _TYPES[parameter.type])
        except msgspec.ValidationError as error:
            raise InvalidInput(Rule("choices_of_other_type", error=error), field=f"{field}.choices") from error
    if parameter.pattern is not None:
        try:
            pattern_of(parameter.pattern)
        except (TypeError, ValueError) as error:
            rule = Rule("not_a_pattern", got=quoted(parameter.pattern), error=error)
            raise InvalidInput(rule, field=f"{field}.pattern") from error
