"""Invalid TOML is refused with line and column, and every place in a file has its line."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hanbeon.config.document import Document
from hanbeon.errors import ConfigInvalid, NotFound
from tests.config.files import write


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tasks.build\n", "line 1, column 13: Expected ']'"),
        ("a = 1\nb = yes\n", 'line 2, column 5: Invalid value; write text in quotes: name = "text"'),
        ("a = 1\na = 2\n", "line 2, column 6: Cannot overwrite a value; a name may be set only once"),
        ("[a]\n[b]\n[a]\n", "line 3, column 3: Cannot declare ('a',) twice; a table may be declared only once"),
        ('a = "open\n', "line 1, column 10: Illegal character"),
        ("a = [1,\n2", "line 2, column 2: Unclosed array; close it with ]"),
        ("[tasks]\nbuild\n", "line 2, column 6: Expected '='"),
        ("\n\n= 1", "line 3, column 1: Invalid statement; write name = value"),
        (f"a = {'9' * 5000}", "a value is too long or too deep"),
        (f"a = {'[' * 100_000}", "a value is too long or too deep"),
    ],
)
def test_invalid_toml_is_refused_with_line_and_column(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigInvalid) as refusal:
        Document.read(path)
    assert str(refusal.value).startswith(f"{path}: ")
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("raw", "message"),
    [(b"a = 1\nb = '\xff'\n", "line 2: must be UTF-8"), (b"#" * (4 * 1024**2 + 1), "must be at most 4 MiB")],
)
def test_rejects_other_encodings_and_large_files(tmp_path: Path, raw: bytes, message: str) -> None:
    path = tmp_path / "hanbeon.toml"
    path.write_bytes(raw)
    with pytest.raises(ConfigInvalid, match=message):
        Document.read(path)


def test_a_file_from_windows_is_read(tmp_path: Path) -> None:
    path = tmp_path / "hanbeon.toml"
    path.write_bytes("\ufeff[a]\r\nb = '한번'\r\n".encode())
    document = Document.read(path)
    assert document.content == {"a": {"b": "한번"}}
    assert document.line_of(["a", "b"]) == 2


def test_rejects_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="check --config or HANBEON_CONFIG"):
        Document.read(tmp_path / "nothing.toml")
    with pytest.raises(ConfigInvalid, match="must be a regular file"):
        Document.read(tmp_path)


_TEXT = '''# a comment
top = 1

[tasks.build] # with a comment
command = [
  "a", # one
  "b",
]
text = """
[tasks.fake]
timeout = 1
"""
timeout = "1x"
"odd.name" = { inner = 1, other = 2 }
dotted.key = 3

[tasks]
late = {}
'''


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (["top"], 2),
        (["tasks"], 4),
        (["tasks", "build"], 4),
        (["tasks", "build", "command"], 5),
        (["tasks", "build", "command", "1"], 5),
        (["tasks", "build", "text"], 9),
        (["tasks", "build", "timeout"], 13),
        (["tasks", "build", "odd.name", "inner"], 14),
        (["tasks", "build", "dotted", "key"], 15),
        (["tasks", "build", "missing"], 4),
        (["tasks", "late"], 18),
        (["nowhere"], None),
        ([], None),
    ],
)
def test_every_place_has_its_line(place: list[str], line: int | None) -> None:
    assert Document(Path("x.toml"), _TEXT).line_of(place) == line


_NAMES = st.text(st.sampled_from("ab-_1"), min_size=1, max_size=3)
_VALUES = st.sampled_from(["1", '"x"', "[\n1,\n2]", '"""\n[a]\nb = 1\n"""', "{ a = 1 }"])
_STATEMENTS = st.one_of(
    st.builds("[{}]".format, _NAMES),
    st.builds("{} = {}".format, _NAMES, _VALUES),
    st.just("# [a]"),
    st.just(""),
)


@given(st.lists(_STATEMENTS, max_size=12))
@example(["a = 1", "[b]", "a = 1"])
def test_the_line_is_that_of_the_statement(statements: list[str]) -> None:
    """Compare with a second way to find it: counting the statements while they are written."""
    starts, line = [], 1
    for each in statements:
        starts.append(line)
        line += each.count("\n") + 1
    try:
        document = Document(Path("x.toml"), "\n".join(statements))
    except ConfigInvalid:
        return
    table: list[str] = []
    for start, each in zip(starts, statements, strict=True):
        if each.startswith("["):
            table = [each[1:-1]]
            assert document.line_of(table) == start
        elif each and not each.startswith("#"):
            assert document.line_of([*table, each.split(" = ")[0]]) == start


@given(st.text(st.sampled_from("abc=[]{}\"'\n.# \\1-:T\x00\r\u2028한"), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        document = Document(Path("x.toml"), text)
    except ConfigInvalid:
        with pytest.raises(ValueError, match=r"."):
            tomllib.loads(text)
    else:
        for name in document.content:
            assert document.line_of([name]) is not None
