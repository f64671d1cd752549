"""Reading a log: page by page, and whatever was cut on the way."""

import msgspec
import pytest

from hanbeon.domain.log import LogChunk, LogCut, LogLine, LogPosition, LogStream, check_log_range, read_page
from hanbeon.errors import InvalidInput


def chunk(first_line: int, *texts: str, attempt: int = 1) -> LogChunk:
    body = [[line, "stdout", text] for line, text in enumerate(texts, first_line)]
    lines = sum(text.count("\n") or 1 for text in texts)
    return LogChunk(attempt, first_line, lines, msgspec.json.encode(body).decode())


def test_a_page_ends_in_the_middle_of_a_chunk_and_goes_on_there() -> None:
    chunks = [chunk(1, "a\nb\n", "c\n"), chunk(4, "d\n")]
    place, seen = LogPosition(), []
    while True:
        entries, place, more = read_page(chunks, place, 1)
        seen += [entry.text for entry in entries if isinstance(entry, LogLine)]
        if not more:
            break
    assert seen == ["a", "b", "c", "d"]
    assert read_page(chunks, place, 1) == ([], LogPosition(1, 4), False)


def test_a_gap_is_a_cut_wherever_the_reader_stands() -> None:
    head, tail = chunk(1, "a\n", "b\n"), chunk(10, "j\n")
    entries, place, _ = read_page([head, tail], LogPosition(), 100)
    assert entries[2] == LogCut(attempt=1, line=3, lines=7)
    assert place == LogPosition(1, 10)
    # Its place fell out of the window since it was there.
    entries, _, _ = read_page([tail], LogPosition(1, 5), 100)
    assert entries[0] == LogCut(attempt=1, line=6, lines=4)
    # Nothing is missing for one who has read on to there.
    entries, _, _ = read_page([tail], LogPosition(1, 9), 100)
    assert [entry.line for entry in entries] == [10]


def test_attempts_follow_each_other_and_count_for_themselves() -> None:
    chunks = [chunk(1, "a\n"), chunk(3, "c\n", attempt=2)]
    entries, place, _ = read_page(chunks, LogPosition(), 100)
    assert [(entry.attempt, entry.line) for entry in entries] == [(1, 1), (2, 1), (2, 3)]
    assert isinstance(entries[1], LogCut)
    assert place == LogPosition(2, 3)


def test_a_line_without_an_end_says_so() -> None:
    (entry,) = read_page([chunk(1, "half")], LogPosition(), 10)[0]
    assert entry == LogLine(attempt=1, line=1, at=1, stream=LogStream.STDOUT, text="half", unended=True)


def test_places_travel_as_text() -> None:
    assert LogPosition.parse(str(LogPosition(3, 120))) == LogPosition(3, 120)


@pytest.mark.parametrize("text", ["", "3", "3:", "-1:2", "3:x", "٣:1", "1:2:3", "9" * 30 + ":1", 7, None])
def test_anything_else_is_no_place(text: object) -> None:
    with pytest.raises(InvalidInput, match="after"):
        LogPosition.parse(text)


@pytest.mark.parametrize(
    ("attempt", "limit"), [(0, 1), (-1, 1), (True, 1), ("1", 1), (None, 0), (None, 10_001), (1, 1.5)]
)
def test_ranges_that_do_not_fit(attempt: object, limit: object) -> None:
    with pytest.raises(InvalidInput):
        check_log_range(attempt, limit)
