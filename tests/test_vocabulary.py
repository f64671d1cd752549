"""House rules about names and sentences, so that a change cannot bring the old ones back."""

import ast
import importlib
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.surface import Surface
from tests.docs.markdown import PAGES, name

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "bench", "tools", "examples")
FILES = sorted(
    path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if "out" not in path.relative_to(ROOT).parts
)
DASHBOARD = ROOT / "dashboard/src"
SOURCE = ROOT / "src/hanbeon"
SURFACE_FOLDER = ROOT / "src/hanbeon/surfaces"
_GERUND = re.compile(r"[a-z_]*ing$")
_NOUNS = {"testing", "setting"}
"""Nouns that end like gerunds."""
_VAGUE = re.compile(r"(What|Who|Whoever|Whether|The same)\b")
_OF_SPEECH = re.compile(r"\b(?:told|heard|may\(\))")
_TRANSLATED = re.compile(r"\b(?:whoever|whatever|likewise|anew|in vain|by itself|told|heard|goes on)\b", re.IGNORECASE)
"""Words of translated prose: name the subject, or say `also`, `again`, `alone`, `continues`."""
_TRANSLATED_COMMENT = re.compile(r"\b(?:whoever|likewise|anew|in\s+vain)\b", re.IGNORECASE)
_TEST_LONGEST = 60
_METHOD = re.compile(r"\.[lr]?strip\b")
_REPLACED = {
    "strip": "batch, event group (docs/glossary.md)",
    "strips": "batches, event groups",
    "lent": "user transaction",
    "lend": "begin",
    "lends": "begin",
    "lending": "begin",
    "bury": "dead_letter",
    "equip": "add_surfaces",
    "hurry": "stop_now",
    "tend": "poll",
    "insist": "escalate",
    "lookout": "idle_poll",
}
"""Words of one author, and what the field or the glossary says instead."""
_OLD = "|".join(_REPLACED)
_WORD = re.compile(rf"(?<![a-z])(?:{_OLD}|{_OLD.title()})(?![a-z])|(?<![A-Z])(?:{_OLD.upper()})(?![A-Z])")
_VAGUE_TEST = re.compile(r"test_(what|who|whether)")


def _id(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_modules_are_nouns() -> None:
    gerunds = [
        _id(path)
        for path in FILES
        if _GERUND.fullmatch(path.stem.removeprefix("test_")) and path.stem.removeprefix("test_") not in _NOUNS
    ]
    assert gerunds == []


def _docstrings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def test_docstrings_name_their_subject() -> None:
    vague = [
        f"{_id(path)}: {text.splitlines()[0]}"
        for path in FILES
        for text in _docstrings(ast.parse(path.read_text()))
        if _VAGUE.match(text)
    ]
    assert vague == []


def _comments(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        yield from (token.string for token in tokenize.tokenize(file.readline) if token.type == tokenize.COMMENT)


def test_docstrings_and_comments_are_plain_english() -> None:
    package = [path for path in FILES if SOURCE in path.parents]
    texts = [
        (_id(path), text) for path in package for text in (*_docstrings(ast.parse(path.read_text())), *_comments(path))
    ]
    assert len(texts) > 5_000
    assert [(path, text) for path, text in texts if _TRANSLATED_COMMENT.search(text)] == []


def test_names_of_tests_are_short_and_name_a_behaviour() -> None:
    names = [
        (_id(path), node.name)
        for path in FILES
        if path.stem.startswith("test_")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]
    assert len(names) > 1_000
    assert [each for each in names if len(each[1]) > _TEST_LONGEST or _VAGUE_TEST.match(each[1])] == []


def test_told_is_not_a_name() -> None:
    using = [
        _id(path)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Name) and node.id == "told"
    ]
    assert sorted(set(using)) == []


def test_replaced_words_stay_replaced() -> None:
    """In names, comments, SQL and documentation. `str.strip` is Python's."""
    texts = [*FILES, *(ROOT / "src").rglob("*.sql"), *(ROOT / "docs").rglob("*.md")]
    found = [
        f"{_id(path)}: {word} (say {_REPLACED[word.lower()]})"
        for path in texts
        if path != Path(__file__)
        for word in _WORD.findall(_METHOD.sub("", path.read_text()))
    ]
    assert found == []


def test_scripts_have_neither_gerunds_nor_words_of_speech() -> None:
    scripts = sorted(path for kind in ("ts", "tsx") for path in DASHBOARD.rglob(f"*.{kind}"))
    assert len(scripts) > 50
    assert [_id(path) for path in scripts if _GERUND.fullmatch(path.stem) and path.stem not in _NOUNS] == []
    assert [(_id(path), word) for path in scripts for word in _OF_SPEECH.findall(path.read_text())] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_pages_are_plain_english(page: Path) -> None:
    words = re.sub(r"\s+", " ", page.read_text())
    assert [words[match.start() - 40 : match.end()] for match in _TRANSLATED.finditer(words)] == []


def _folder(surface: Surface) -> str:
    """The folder below `surfaces/`; that of replays is within the one of exports."""
    return surface.api.split(".")[2]


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_surfaces_do_not_import_each_other(surface: Surface) -> None:
    name = _folder(surface)
    # That of operators is a part of the core: commands of all surfaces show its jobs.
    others = {f"hanbeon.surfaces.{folder}." for each in SURFACES if (folder := _folder(each)) not in (name, "engine")}
    for path in (SURFACE_FOLDER / name).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert not any(f"{node.module}.".startswith(other) for other in others), _id(path)


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_operations_import_neither_server_nor_service_nor_store(surface: Surface) -> None:
    """Clients read them, too."""
    folder = Path(importlib.import_module(surface.api).__file__ or "").parent
    forbidden = re.compile(r"hanbeon\.(app|cli|engine|events|executors|server|service|store)\b|.*\.service$")
    for module in ("operations", "schemas", "surface", "vocabulary"):
        path = folder / f"{module}.py"
        if module == "vocabulary" and not path.exists():
            continue  # It speaks the engine's own words.
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert not forbidden.match(node.module or ""), f"{surface.name}/{module}.py imports {node.module}"


_ONE_MEANING = {
    "drain": {"store/operations/instances.py", "surfaces/engine/service.py"},
    # Of a job in its surface, and of a step in its chain.
    "place": {"surfaces/chains/walk_audit.py", "surfaces/engine/serializers.py"},
    "plain": {"quotation.py"},
    "source": set[str](),
}
"""Words of the glossary without a qualifier, and where their one meaning is a function or a class."""


def test_unqualified_words_have_one_meaning() -> None:
    found = {word: set[str]() for word in _ONE_MEANING}
    places = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if node.name.lower() in found:
                    found[node.name.lower()].add(str(path.relative_to(SOURCE)))
                if re.search(r"Place(?!holder)|(?<![a-z])place_", node.name):
                    places.add(node.name)
    assert found == _ONE_MEANING
    assert places - {"WorkerPlace"} == {"JobPlace", "Place", "place_of_job"}
