"""`client/resources.pyi`: the resources of both clients, typed from the operations that they are derived from."""

from __future__ import annotations

import ast
import typing
from collections.abc import Iterator
from inspect import Parameter
from pathlib import Path
from typing import Any

import msgspec

from hanbeon.client.methods import ClientMethod, Events, Pages, methods_of
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.validation import optional_nulls
from tools.keywords import annotation_of, formatted
from tools.stubs import Renamed

PATH = Path(__file__).parents[1] / "src/hanbeon/client/resources.pyi"
_HEAD = '''"""Generated from the operations of the surfaces by `make docs`."""

from typing import Any, ClassVar

from hanbeon.client.calls import RetryConfig
from hanbeon.surfaces.surface import Surface
'''
_PLAIN = {
    "idempotency_key": "str | None",
    "expected": "int | None",
    "timeout": "float | None",
    "after": "int | str",
    "file": "str | PathLike[str]",
}


def client_resources() -> str:
    """The text of the stub."""
    resources: dict[str, list[ClientMethod]] = {}
    for surface in SURFACES:
        for method in methods_of(surface):
            resources.setdefault(method.binding.resource, []).append(method)
    own = {_title(name, prefix): "" for name in resources for prefix in _PREFIXES}
    imports: dict[str, str] = dict(own)
    classes = [_class(name, methods, prefix, imports) for name, methods in resources.items() for prefix in _PREFIXES]
    fronts = [_front(resources, prefix) for prefix in _PREFIXES]
    return formatted("\n".join([_HEAD, *sorted(filter(None, imports.values())), _BASE, *classes, *fronts]), PATH)


_PREFIXES = ("", "Async")
_BASE = """

class Resource:
    def __init__(self, transport: Any, retry: RetryConfig, ids: Any) -> None: ...
"""


def _class(name: str, methods: list[ClientMethod], prefix: str, all_imports: dict[str, str]) -> str:
    imports: set[str] = set()
    lines = [f"class {_title(name, prefix)}(Resource):"]
    if methods[0].binding.id is not None:
        lines += ["    @property", "    def id(self) -> str: ..."]
    for method in methods:
        parameters = ", ".join(["self", *_parameters(method, imports)])
        coroutine = "async " if prefix and not method.streams else ""
        lines.append(f"    {coroutine}def {method.binding.name}({parameters}) -> {_result(method, prefix, imports)}:")
        lines.append(f'        """{method.doc}"""')
    return "\n" + _without_clashes("\n".join(lines), imports, all_imports)


def _without_clashes(text: str, imports: set[str], known: dict[str, str]) -> str:
    """The class with other names for types whose names another surface has, too."""
    renamed: dict[str, str] = {}
    for line in sorted(imports):
        module, name = line.removeprefix("from ").split(" import ")
        if known.setdefault(name, line) != line:
            renamed[name] = f"{module.split('.')[2].capitalize()}{name}"
            known[renamed[name]] = f"{line} as {renamed[name]}"
    return ast.unparse(Renamed(renamed).visit(ast.parse(text))) if renamed else text


def _front(resources: dict[str, list[ClientMethod]], prefix: str) -> str:
    lines = [
        "",
        f"class {prefix or 'Sync'}Resources:",
        "    surfaces: ClassVar[tuple[Surface, ...]]",
        "    _transport: Any",
        "    _retry: RetryConfig",
    ]
    for name, methods in resources.items():
        if methods[0].binding.id is None:
            lines += ["    @property", f"    def {name}(self) -> {_title(name, prefix)}: ..."]
        else:
            lines.append(f"    def {name}(self, id: str, /) -> {_title(name, prefix)}: ...")
    return "\n".join(lines)


def _title(name: str, prefix: str) -> str:
    return prefix + "".join(word.capitalize() for word in name.split("_"))


def _parameters(method: ClientMethod, imports: set[str]) -> Iterator[str]:
    operation = method.operation
    hints = {} if operation.request is None else typing.get_type_hints(operation.request, include_extras=True)
    starred = False
    for parameter in list(method.signature.parameters.values())[1:]:
        if parameter.kind is Parameter.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        name = parameter.name
        if name in _PLAIN and name not in method.fields:
            kind = _PLAIN[name]
            if "PathLike" in kind:
                _import("os", "PathLike", imports)
        elif name in method.query_fields:
            in_query = typing.get_type_hints(operation.query, include_extras=True)
            kind = _field(in_query[name], query=True, imports=imports)
        elif name in method.fields:
            field = method.fields[name].name
            kind = _field(hints[field], query=operation.in_query, imports=imports)
            if method.fields[name].encode_name in optional_nulls(operation.request):
                kind += " | None"
        elif name == operation.client.body:
            kind = _import("collections.abc", "Mapping", imports) + "[str, Any]"
        else:
            kind = _one(method, name, imports)
        default = "" if parameter.default is Parameter.empty else f" = {_default(parameter.default)}"
        yield f"{name}: {kind}{default}"


def _field(hint: Any, *, query: bool, imports: set[str]) -> str:
    found = annotation_of(hint, imports, engine=False)
    if query:
        parts = [each for each in found.split(" | ") if each != "None"]
        many = [each.removeprefix("Sequence[").removesuffix("]") for each in parts if each.startswith("Sequence[")]
        return " | ".join(dict.fromkeys([*many, *parts, "None"]))
    return found


def _one(method: ClientMethod, name: str, imports: set[str]) -> str:
    """A parameter of the path: what it names, as the surface shows it, or its id."""
    for operation in _operations_of(method):
        kind = next(iter(operation.responses.values()), None)
        named = getattr(kind, "__name__", "")
        if named.lower() == name and "id" in getattr(kind, "__struct_fields__", ()):
            return f"{_import(kind.__module__, named, imports)} | str"
    return "str"


def _operations_of(method: ClientMethod) -> Iterator[Any]:
    for surface in SURFACES:
        if method.operation in surface.operations:
            yield from surface.operations


def _result(method: ClientMethod, prefix: str, imports: set[str]) -> str:
    operation = method.operation
    if isinstance(method, Events):
        kind = _import(method.channel.event.__module__, method.channel.event.__name__, imports)
    elif operation.result is not None:
        kind = _import(operation.result.__module__, operation.result.__name__, imports)
    else:
        response = next(iter(operation.responses.values()), None)
        if isinstance(method, Pages):
            kind = annotation_of(_items(response), imports, engine=False)
        elif operation.client.part is not None:
            part = typing.get_type_hints(response, include_extras=True)[operation.client.part]
            kind = annotation_of(part, imports, engine=False).replace("Sequence[", "list[")
        else:
            kind = "None" if response is None else _import(response.__module__, response.__name__, imports)
    if method.streams:
        return f"{_import('collections.abc', f'{prefix}Iterator', imports)}[{kind}]"
    return kind


def _items(page: Any) -> Any:
    """The type of a page's items."""
    (field,) = (each for each in msgspec.structs.fields(page) if each.name == "items")
    return typing.get_args(field.type)[0]


def _import(module: str, name: str, imports: set[str]) -> str:
    imports.add(f"from {module} import {name}")
    return name


def _default(value: Any) -> str:
    return "..." if value is msgspec.UNSET else repr(value)


if __name__ == "__main__":
    PATH.write_text(client_resources())
