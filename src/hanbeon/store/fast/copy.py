"""COPY of rows, in its text format."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from hanbeon.store.tx import Copy

WORTH_IT = 50
"""For fewer rows, a statement has fewer round trips."""
NULL = r"\N"
# Small enough that the server gets its first lines soon, large enough that a part is worth its overhead.
LINES_AT_ONCE = 250
_ESCAPED = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def escaped(text: str) -> str:
    return text if "\\" not in text and text.isprintable() else text.translate(_ESCAPED)


def text_of(values: Iterable[Any]) -> str:
    """Return the columns of a line."""
    return "\t".join([NULL if value is None else escaped(str(value)) for value in values])


async def copy_rows(copy: Copy, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows, in this order. They are taken as they are needed, while the server writes those before them."""
    await copy(table, columns, _lines(iter(rows)))


async def _lines(rows: Iterator[Sequence[Any]]) -> AsyncIterator[bytes]:
    while part := list(islice(rows, LINES_AT_ONCE)):
        texts = [_texts(column) for column in zip(*part, strict=True)]
        yield ("\n".join(map("\t".join, zip(*texts, strict=True))) + "\n").encode()


def _texts(column: Sequence[Any]) -> list[str]:
    """Column by column: one that has nothing to escape is found without looking at each value."""
    if nulls := column.count(None):
        if nulls == len(column):
            return [NULL] * nulls
        return [NULL if value is None else escaped(str(value)) for value in column]
    texts = list(map(str, column))
    return texts if escaped(whole := "".join(texts)) is whole else list(map(escaped, texts))
