"""Request validation: bytes, mappings and keywords become the structs of a surface's `schemas.py`.

The struct is the only place that states a field's type and bounds. msgspec enforces them; this module turns its errors
into `InvalidInput` with the path of the field, the rule and the value.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType, inspect

from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted, suggested
from hanbeon.rule import Rule

T = TypeVar("T")
D = TypeVar("D")
_NAME_SHOWN = 80
EXPECTED = "expected"
"""Key of `Meta(extra=…)`: the rule, where the constraint itself would not explain it."""
SECRET = "secret"
"""Key of `Meta(extra=…)`: the value is never quoted in an error."""
PYTHON = "python"
"""Key of `Meta(extra=…)`: (annotation, import) that Python callers see, where they may pass more than JSON has."""
_NEAREST = "nearest"


class inside:
    """Prefix the field of any `InvalidInput` with `place`. A class, because batches have thousands of jobs."""

    __slots__ = ("_place",)

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, InvalidInput):
            error.move_inside(self._place)


def decode(data: bytes, kind: type[T]) -> T:
    """Decode JSON straight into a struct.

    Raises `msgspec.DecodeError`, `UnicodeDecodeError` or `RecursionError` for what is not JSON at all.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        return _converted(msgspec.json.decode(data), kind, _wire_name)


def validate(kind: type[T], given: Mapping[str, Any]) -> T:
    """Make a struct from values under the names that Python uses for its fields.

    Structs inside are checked like mappings: one that Python code made by hand has never been validated.
    """
    names = _wire_names(kind)
    renamed = {names.get(name, name): _checked(value) for name, value in given.items() if value is not UNSET}
    try:
        made = msgspec.convert(renamed, kind)
    except msgspec.ValidationError:
        made = _converted(renamed, kind, _python_name)
    for name, value in renamed.items():
        check_encodable(value, name)
    return made


def check_encodable(value: Any, field: str) -> None:
    """Reject half of a surrogate pair, which a Python string may hold and JSON may not.

    Elements of arrays are not searched: a batch is long, and is encoded later anyway.
    """
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidInput(Rule("no_surrogate"), field=field) from None
    elif isinstance(value, Mapping):
        for name, each in value.items():
            check_encodable(name, field)
            check_encodable(each, _join(field, str(name)[:_NAME_SHOWN]))


def convert(kind: type[T], value: Any) -> T:
    """Make a struct from decoded JSON or TOML."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return _converted(value, kind, _wire_name)


def or_default(value: T | UnsetType | None, default: D) -> T | D:
    """The value of an optional field, or `default` if the client left it out or sent null."""
    return default if value is None or isinstance(value, UnsetType) else value


def given_fields(request: msgspec.Struct) -> dict[str, Any]:
    """The fields that the client sent, by the names that Python uses for them."""
    return {name: value for name in request.__struct_fields__ if (value := getattr(request, name)) is not UNSET}


_NESTED = (msgspec.Struct, list)


def _checked(value: Any) -> Any:
    """Return the value with invalid structs turned into mappings, in which the broken rule can be located."""
    if isinstance(value, list | tuple):
        return [_checked_struct(each) if isinstance(each, msgspec.Struct) else each for each in value]
    return _checked_struct(value) if isinstance(value, msgspec.Struct) else value


def _checked_struct(struct: msgspec.Struct) -> Any:
    # One by one: the mappings of a whole batch at once would keep the garbage collector busy.
    values = zip(struct.__struct_encode_fields__, msgspec.structs.astuple(struct), strict=True)
    mapping = {
        name: _checked(value) if isinstance(value, _NESTED) else value for name, value in values if value is not UNSET
    }
    try:
        msgspec.convert(mapping, type(struct))
    except msgspec.ValidationError:
        return mapping
    return struct


def _wire_names(kind: Any) -> dict[str, str]:
    return dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))


FieldName = Callable[[inspect.Field], str]


def _wire_name(field: inspect.Field) -> str:
    return field.encode_name


def _python_name(field: inspect.Field) -> str:
    return field.name


# Nulls of fields that are not given

_SCALARS = frozenset({str, int, float, bool})


def _converted(value: Any, kind: type[T], name_of: FieldName) -> T:
    """Convert a value that was refused as it is: once more, without nulls that leave their field out."""
    given = _without_nulls(inspect.type_info(kind), value)
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise _invalid(given, kind, error, name_of) from None


def _without_nulls(info: inspect.Type, value: Any) -> Any:
    info = bare(info)
    match info:
        case inspect.UnionType():
            found = next((each for each in map(bare, info.types) if _same_kind(each, value)), None)
            return value if found is None else _without_nulls(found, value)
        case inspect.StructType() if isinstance(value, Mapping):
            types = {field.encode_name: field.type for field in info.fields}
            absent = optional_nulls(info.cls)
            return {
                name: _without_nulls(types[name], each) if name in types else each
                for name, each in value.items()
                if each is not None or name not in absent
            }
        case inspect.DictType() if isinstance(value, Mapping):
            return {
                name: each if type(each) in _SCALARS else _without_nulls(info.value_type, each)
                for name, each in value.items()
            }
        case inspect.ListType() if isinstance(value, list | tuple):
            # Only what may hold a null is looked into: lists may have millions of texts.
            return [each if type(each) in _SCALARS else _without_nulls(info.item_type, each) for each in value]
        case _:
            return value


@functools.cache
def optional_nulls(kind: Any) -> frozenset[str]:
    """The fields of a struct, by their names in JSON, that null leaves out: their types have no null of their own."""
    if not getattr(kind, "null_is_absent", False):
        return frozenset()
    fields = inspect.type_info(kind).fields  # type: ignore[attr-defined]  # of a struct
    return frozenset(each.encode_name for each in fields if not each.required and not _takes_null(each.type))


def structs_in(kinds: Iterable[type[msgspec.Struct]]) -> set[Any]:
    """These structs and all that their fields may hold."""
    found: set[Any] = set()
    rest = [inspect.type_info(kind) for kind in kinds]
    while rest:
        match bare(rest.pop()):
            case inspect.StructType(cls=kind, fields=fields) if kind not in found:
                found.add(kind)
                rest += [field.type for field in fields]
            case inspect.UnionType(types=types):
                rest += types
            case inspect.DictType(value_type=inner) | inspect.ListType(item_type=inner):
                rest.append(inner)
            case _:
                pass
    return found


def _takes_null(info: inspect.Type) -> bool:
    info = bare(info)
    if isinstance(info, inspect.UnionType):
        return any(map(_takes_null, info.types))
    return isinstance(info, inspect.NoneType | inspect.AnyType)


# Translation of msgspec's errors


Steps = list[str]
Extra = Mapping[str, Any]
NO_EXTRA: Extra = {}
_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")
_ANY_KEY = "..."


def _invalid(value: Any, kind: Any, error: msgspec.ValidationError, name_of: FieldName) -> InvalidInput:
    """Translate an error. The path that msgspec names is followed, so that a long batch is not searched."""
    _, _, place = str(error).rpartition(" - at ")
    steps = [name or number for name, number in _STEP.findall(place)] if "`$" in place else []
    walk = _Walk(name_of)
    info = inspect.type_info(kind)
    found = walk.violation(info, value, "", steps) or walk.violation(info, value, "", None)
    return found or InvalidInput(Rule("foreign_text", text=error))


class _Walk:
    """Finds the value that breaks a rule: along `steps`, or everywhere if they are None."""

    def __init__(self, name_of: FieldName) -> None:
        self._name_of = name_of

    def violation(
        self, info: inspect.Type, value: Any, field: str, steps: Steps | None, inherited: Extra = NO_EXTRA
    ) -> InvalidInput | None:
        """`inherited`: of the array or object that the value is an element of."""
        extra = {**inherited, **_extra(info)}
        info = bare(info)
        if isinstance(info, inspect.UnionType):
            return self._union(info, value, field, steps, _secrecy(extra))
        if isinstance(info, inspect.StructType):
            return self._struct(info, value, field, steps, extra)
        if isinstance(info, inspect.DictType):
            return self._dict(info, value, field, steps, extra)
        if isinstance(info, inspect.ListType):
            return self._list(info, value, field, steps, extra)
        if _accepts(info, value):
            return None
        if isinstance(info, inspect.EnumType) and isinstance(value, str):
            extra = {**extra, _NEAREST: suggested(value[:_NAME_SHOWN], [str(each.value) for each in info.cls])}
        return _must(extra.get(EXPECTED) or _rule(info), value, field, extra)

    def _union(
        self, info: inspect.UnionType, value: Any, field: str, steps: Steps | None, inherited: Extra
    ) -> InvalidInput | None:
        found = [(each, self.violation(each, value, field, steps, inherited)) for each in info.types]
        if any(violation is None for _, violation in found):
            return None
        for each, violation in found:
            if _same_kind(bare(each), value):
                return violation
        others = [each for each in info.types if not isinstance(bare(each), inspect.NoneType)]
        rules = [_extra(each).get(EXPECTED) or _rule(bare(each)) for each in others]
        extra = {**inherited, **(_extra(others[0]) if others else {})}
        return _must(_either(rules), value, field, extra)

    def _struct(
        self, info: inspect.StructType, value: Any, field: str, steps: Steps | None, extra: Extra
    ) -> InvalidInput | None:
        if isinstance(value, info.cls):
            return None
        if not isinstance(value, Mapping):
            return _must(Rule("object"), value, field, extra)
        fields = {each.encode_name: each for each in info.fields}
        if not steps:
            for name in value if info.forbid_unknown_fields else ():
                if name not in fields:
                    return self._unknown(info, str(name)[:_NAME_SHOWN], field)
            for each in info.fields:
                if each.required and each.encode_name not in value:
                    rule = _extra(each.type).get(EXPECTED) or _rule(bare(each.type))
                    return InvalidInput(Rule("required", what=rule), field=_join(field, self._name_of(each)))
        for name, each in fields.items():
            if name in value and (not steps or name == steps[0]):
                place = _join(field, self._name_of(each))
                found = self.violation(each.type, value[name], place, steps and steps[1:])
                if found is not None:
                    return found
        return None

    def _unknown(self, info: inspect.StructType, name: str, field: str) -> InvalidInput:
        known = sorted(self._name_of(each) for each in info.fields)
        rule = Rule("unknown_field", nearest=suggested(name, known), known=known)
        return InvalidInput(rule, field=_join(field, name))

    def _dict(
        self, info: inspect.DictType, value: Any, field: str, steps: Steps | None, extra: Extra
    ) -> InvalidInput | None:
        if not isinstance(value, Mapping):
            return _must(Rule("object"), value, field, extra)
        if not _fits_size(info, len(value)):
            return _must(_size_rule(info, "object"), len(value), field)
        for name, each in value.items():
            if self.violation(info.key_type, name, field, None) is not None:
                rule = _extra(info.key_type).get(EXPECTED) or _rule(bare(info.key_type))
                return InvalidInput(Rule("each_name", what=rule, got=shown(name)), field=field)
            place = _join(field, str(name)[:_NAME_SHOWN])
            rest = steps[1:] if steps and steps[0] == _ANY_KEY else None
            found = self.violation(info.value_type, each, place, rest, _secrecy(extra))
            if found is not None:
                return found
        return None

    def _list(
        self, info: inspect.ListType, value: Any, field: str, steps: Steps | None, extra: Extra
    ) -> InvalidInput | None:
        if not isinstance(value, list | tuple):
            return _must(Rule("array"), value, field, extra)
        if not _fits_size(info, len(value)):
            return _must(_size_rule(info, "array"), len(value), field)
        if steps and steps[0].isdecimal() and int(steps[0]) < len(value):
            number = int(steps[0])
            return self.violation(info.item_type, value[number], f"{field}[{number}]", steps[1:], _secrecy(extra))
        for number, each in enumerate(value):
            found = self.violation(info.item_type, each, f"{field}[{number}]", None, _secrecy(extra))
            if found is not None:
                return found
        return None


def _accepts(info: inspect.Type, value: Any) -> bool:
    """Check by msgspec itself, so that this module has no rules of its own."""
    try:
        msgspec.convert(value, _type_of(info))
    except msgspec.ValidationError:
        return False
    return True


def _type_of(info: inspect.Type) -> Any:
    """The Python type that a leaf describes."""
    match info:
        case inspect.IntType() | inspect.FloatType():
            bounds = {name: getattr(info, name) for name in ("gt", "ge", "lt", "le", "multiple_of")}
            return _annotated(int if isinstance(info, inspect.IntType) else float, bounds)
        case inspect.StrType():
            return _annotated(str, {name: getattr(info, name) for name in ("min_length", "max_length", "pattern")})
        case inspect.BoolType():
            return bool
        case inspect.NoneType():
            return None
        case inspect.EnumType():
            return info.cls
        case inspect.LiteralType():
            return Literal[tuple(info.values)]
        case _:
            return Any


def _annotated(kind: type, bounds: Mapping[str, Any]) -> Any:
    set_bounds = {name: bound for name, bound in bounds.items() if bound is not None}
    return Annotated[kind, msgspec.Meta(**set_bounds)] if set_bounds else kind


def _rule(info: inspect.Type) -> Rule:
    """A type and its bounds."""
    match info:
        case inspect.IntType():
            return _bounded("integer", info.ge, info.le)
        case inspect.FloatType():
            return _bounded("number", info.ge, info.le)
        case inspect.StrType():
            return _size_rule(info, "string")
        case inspect.BoolType():
            return Rule("boolean")
        case inspect.NoneType():
            return Rule("null")
        case inspect.EnumType():
            return _one_of([each.value for each in info.cls])
        case inspect.LiteralType():
            return _one_of(info.values)
        case inspect.ListType():
            return _size_rule(info, "array")
        case inspect.UnionType():
            return _either([_rule(bare(each)) for each in info.types if not isinstance(bare(each), inspect.NoneType)])
        case inspect.StructType() | inspect.DictType():
            return Rule("object")
        case _:
            return Rule("json")


def _either(rules: Iterable[Rule]) -> Rule:
    different = list(dict.fromkeys(rules))
    return different[0] if len(different) == 1 else Rule("either", alternatives=different)


def _one_of(values: Any) -> Rule:
    words = [str(each) for each in values]
    return Rule("one_of", choices=words) if len(words) > 1 else Rule("literal", value=words[0])


def _bounded(kind: str, low: Any, high: Any) -> Rule:
    """A rule of this kind, which has variants by the bounds that there are."""
    if low is not None and high is not None:
        return Rule(f"{kind}_from_to", low=low, high=high)
    if low is not None:
        return Rule(f"{kind}_at_least", low=low)
    return Rule(kind) if high is None else Rule(f"{kind}_at_most", high=high)


def _size_rule(info: Any, kind: str) -> Rule:
    return _bounded(kind, info.min_length, info.max_length)


def _fits_size(info: Any, size: int) -> bool:
    return (info.min_length is None or size >= info.min_length) and (info.max_length is None or size <= info.max_length)


def _must(rule: Rule, value: Any, field: str, extra: Extra = NO_EXTRA) -> InvalidInput:
    got = None if extra.get(SECRET) else shown(value)
    return InvalidInput(Rule("must_be", what=rule, got=got, nearest=extra.get(_NEAREST)), field=field or None)


def shown(value: Any) -> str:
    """A value as an error quotes it: short, and as JSON writes it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and len(value) > 1_000:
        return f"{len(value):,} characters"
    return quoted(value)


def _same_kind(info: inspect.Type, value: Any) -> bool:
    match info:
        case inspect.StructType() | inspect.DictType():
            return isinstance(value, Mapping)
        case inspect.ListType():
            return isinstance(value, list | tuple)
        case inspect.StrType() | inspect.EnumType() | inspect.LiteralType():
            return isinstance(value, str)
        case inspect.IntType():
            return isinstance(value, int) and not isinstance(value, bool)
        case inspect.FloatType():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case _:
            return False


def bare(info: inspect.Type) -> inspect.Type:
    """A type without its metadata."""
    while isinstance(info, inspect.Metadata):
        info = info.type
    return info


def _secrecy(extra: Extra) -> Extra:
    """Metadata that the elements of an array or object inherit."""
    return {SECRET: True} if extra.get(SECRET) else NO_EXTRA


def _extra(info: inspect.Type) -> Extra:
    extra: dict[str, Any] = {}
    while isinstance(info, inspect.Metadata):
        extra, info = {**extra, **(info.extra or {})}, info.type
    return extra


def _join(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name
