"""`surfaces/*/keywords.py`: the fields of each request as keywords of Python, from the surface's schemas."""

from __future__ import annotations

import enum
import importlib
import inspect
import subprocess
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from hanbeon.surfaces.schema import Request
from hanbeon.surfaces.validation import PYTHON, optional_nulls

_SOURCE = Path(__file__).parents[1] / "src"
_FOLDER = _SOURCE / "hanbeon/surfaces"
_HEAD = '''"""Requests of this surface as keywords, for static types. Generated from `schemas.py` by `make docs`."""

from __future__ import annotations

'''


def paths() -> list[Path]:
    """The modules to generate: one beside every `schemas.py`."""
    return [path.with_name("keywords.py") for path in sorted(_FOLDER.glob("**/schemas.py"))]


def keywords(path: Path) -> str:
    """The text of one module. Clients import it, so that it must not bring the engine along."""
    package = ".".join(path.parent.relative_to(_SOURCE).parts)
    schemas = importlib.import_module(f"{package}.schemas")
    imports: set[str] = {"from typing import TypedDict"}
    body = "".join(_typed_dict(each, imports) for each in _requests(schemas))
    lines = sorted(imports)
    static = [line for line in lines if ".references import" in line]
    plain = [line for line in lines if line not in static]
    if static:
        plain.append("from typing import TYPE_CHECKING")
    guard = "\n".join(["if TYPE_CHECKING:", *(f"    {line}" for line in static)]) if static else ""
    return formatted("\n".join([_HEAD, *plain, guard, body]), path)


def formatted(text: str, path: Path) -> str:
    """The text as `make fmt` leaves it."""
    for arguments in (["check", "--fix", "--select", "I"], ["format"]):
        command = [
            str(Path(sys.executable).with_name("ruff")),
            *arguments,
            "--quiet",
            "--stdin-filename",
            str(path),
            "-",
        ]
        text = subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout
    return text


def _requests(module: types.ModuleType) -> Iterator[type[msgspec.Struct]]:
    for _, found in inspect.getmembers(module, inspect.isclass):
        if issubclass(found, Request) and found.__module__ == module.__name__ and found.__struct_fields__:
            yield found


def _typed_dict(kind: type[msgspec.Struct], imports: set[str]) -> str:
    hints = typing.get_type_hints(kind, include_extras=True)
    required = {each.name for each in msgspec.inspect.type_info(kind).fields if each.required}  # type: ignore[attr-defined]
    lines = []
    for name in kind.__struct_fields__:
        annotation = field_annotation(kind, name, hints[name], imports)
        if name in required:
            imports.add("from typing import Required")
            annotation = f"Required[{annotation}]"
        lines.append(f"    {name}: {annotation}\n")
    doc = inspect.getdoc(kind) if kind.__doc__ and "__doc__" in vars(kind) else ""
    head = f'    """{doc.splitlines()[0]}"""\n\n' if doc else ""
    return f"\n\nclass {kind.__name__}Fields(TypedDict, total=False):\n{head}{''.join(lines)}"


def field_annotation(
    kind: type[msgspec.Struct], name: str, hint: Any, imports: set[str], *, engine: bool = True
) -> str:
    """The annotation of a field, with None where null leaves it out."""
    annotation = annotation_of(hint, imports, engine=engine)
    in_json = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))[name]
    return f"{annotation} | None" if in_json in optional_nulls(kind) else annotation


def annotation_of(hint: Any, imports: set[str], *, engine: bool = True) -> str:
    """A hint as Python callers write it, and the imports for that. `engine`: objects of the engine are taken, too."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        for meta in args[1:]:
            if isinstance(meta, msgspec.Meta) and meta.extra and PYTHON in meta.extra:
                annotation, needed = meta.extra[PYTHON]
                if engine or ".references import" not in needed:
                    imports.add(needed)
                    return str(annotation)
        return annotation_of(args[0], imports, engine=engine)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(
            dict.fromkeys(annotation_of(each, imports, engine=engine) for each in args if each is not msgspec.UnsetType)
        )
    if origin is list:
        imports.add("from collections.abc import Sequence")
        return f"Sequence[{annotation_of(args[0], imports, engine=engine)}]"
    if origin is dict:
        imports.add("from collections.abc import Mapping")
        return f"Mapping[{', '.join(annotation_of(each, imports, engine=engine) for each in args)}]"
    if origin is typing.Literal:
        return "str"
    return _plain(hint, imports)


def _plain(hint: Any, imports: set[str]) -> str:
    if hint is type(None):
        return "None"
    if hint is Any:
        imports.add("from typing import Any")
        return "Any"
    if not isinstance(hint, type) or hint.__module__ == "builtins":
        return str(getattr(hint, "__name__", hint))
    imports.add(f"from {hint.__module__} import {hint.__name__}")
    if issubclass(hint, enum.Enum):
        return f"{hint.__name__} | str"
    if issubclass(hint, Request):
        imports.update(("from collections.abc import Mapping", "from typing import Any"))
        return f"{hint.__name__} | Mapping[str, Any]"
    return hint.__name__


OPTIONS = _SOURCE / "hanbeon/tasks/keywords.py"
SETTINGS = _SOURCE / "hanbeon/setting_keywords.py"
_OPTIONS_HEAD = '''"""Options of tasks and jobs as keywords, for static types. Generated by `make docs`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from hanbeon.tasks.request import HasId
'''
_WIDER = {
    "depends_on": "Iterable[HasId | str]",
    "roles": "Sequence[str]",
    "timeout": "float | str | None",
    "expires": "float | str | None",
    "soft_timeout": "float | str | None",
    "retry_delay": "float | str",
    **dict.fromkeys(("retry_on", "no_retry_on"), "type[BaseException] | Sequence[type[BaseException]]"),
}
"""Types that callers may pass and that are converted to the type of the field."""


def options_of_jobs_and_tasks() -> str:
    """The text of the module with the options of tasks and jobs."""
    from hanbeon.tasks.request import JobOptions
    from hanbeon.tasks.task import TaskOptions

    imports: set[str] = set()
    body = ""
    for kind, wider in ((JobOptions, ("depends_on",)), (TaskOptions, _WIDER.keys() - {"depends_on"})):
        hints = typing.get_type_hints(kind)
        lines = [
            f"    {name}: {_WIDER[name] if name in wider else annotation_of(hints[name], imports)}\n"
            for name in kind.__struct_fields__
        ]
        lines += ["    after: Iterable[HasId | str]\n"] if kind is JobOptions else []
        body += _class(f"{kind.__name__[:-1]}Fields", kind.__doc__, lines)
    return formatted("\n".join([_OPTIONS_HEAD, *sorted(imports), body]), OPTIONS)


def settings() -> str:
    """The text of the module with the settings of an App."""
    from hanbeon.settings import Settings

    lines = [
        f"    {name}: {field.kind.__name__}{' | None' if field.optional else ''}\n"
        for name, field in Settings.model_fields.items()
    ]
    head = '"""Settings of an App as keywords, for static types. Generated by `make docs`."""\n\n'
    return f"{head}from typing import TypedDict" + _class("SettingFields", "Settings; durations are in seconds.", lines)


def _class(name: str, doc: str | None, lines: list[str]) -> str:
    return f'\n\n\nclass {name}(TypedDict, total=False):\n    """{doc}"""\n\n{"".join(lines)}'


if __name__ == "__main__":
    # By itself, before anything imports the services, which need these modules.
    for each in paths():
        each.write_text(keywords(each))
    OPTIONS.write_text(options_of_jobs_and_tasks())
    SETTINGS.write_text(settings())
