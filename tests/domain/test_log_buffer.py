"""The buffer of a log: nothing is lost below the limit, beginning and end are kept above it, and it never grows."""

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hanbeon.domain.log import LogChunk, LogCut, LogEntry, LogLine, LogPosition, LogStream, read_page
from hanbeon.domain.log_buffer import CHUNK, PIECE, LogBuffer

OUT, ERR = LogStream.STDOUT, LogStream.STDERR
MIB = 1_048_576
Written = dict[int, LogChunk]


def write(buffer: LogBuffer, rows: Written) -> None:
    """As the database does it, until there is nothing more to write."""
    while (offer := buffer.offer()) is not None:
        for n in range(*(offer.gone or (0, 0))):
            rows.pop(n, None)
        for chunk in offer.chunks:
            rows[chunk.n] = LogChunk(1, chunk.first_line, chunk.lines, chunk.body)
        buffer.taken()


def nothing() -> Written:
    return {}


def size(rows: Written) -> int:
    return sum(len(row.body.encode()) for row in rows.values())


def read(rows: Written) -> list[LogEntry]:
    entries, place, more = read_page([rows[n] for n in sorted(rows)], LogPosition(), 10**9)
    assert not more
    assert place.line == max((each.line for each in entries), default=0)
    return entries


def lines_of(entries: list[LogEntry]) -> list[LogLine]:
    return [each for each in entries if isinstance(each, LogLine)]


def texts(entries: list[LogEntry]) -> list[str]:
    return [each.text for each in lines_of(entries)]


def cut(entries: list[LogEntry]) -> int:
    return sum(each.lines for each in entries if isinstance(each, LogCut))


def finished(buffer: LogBuffer) -> list[LogEntry]:
    rows: Written = {}
    buffer.finish(0)
    write(buffer, rows)
    return read(rows)


def test_lines_come_back_as_they_were() -> None:
    buffer = LogBuffer(MIB)
    buffer.add(OUT, b"one\ntwo\r\n\nfour", 10)
    buffer.add(OUT, b" and a half\n", 20)
    buffer.add(OUT, "다섯".encode(), 30)
    assert texts(finished(buffer)) == ["one", "two", "", "four and a half", "다섯"]


def test_streams_keep_their_lines_in_order_of_completion() -> None:
    buffer = LogBuffer(MIB)
    buffer.add(OUT, b"downloading", 1_000_000)
    buffer.add(ERR, b"warning\n", 2_000_000)
    buffer.add(OUT, b" done\nnext", 3_000_000)
    buffer.add(LogStream.TASK, b"said\n", 4_000_000)
    assert [(each.line, each.at, each.stream, each.text, each.unended) for each in lines_of(finished(buffer))] == [
        (1, 2_000_000, ERR, "warning", False),
        (2, 3_000_000, OUT, "downloading done", False),
        (3, 4_000_000, LogStream.TASK, "said", False),
        (4, 0, OUT, "next", True),
    ]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x00\x01\xff\xfe", "\ufffd\x01\ufffd\ufffd"),
        (b"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        ("한\u2028번".encode(), "한\u2028번"),
        (b'"quoted" \\n', '"quoted" \\n'),
    ],
)
def test_any_bytes_are_text_in_the_end(data: bytes, text: str) -> None:
    buffer = LogBuffer(MIB)
    buffer.add(OUT, data + b"\n", 0)
    assert texts(finished(buffer)) == [text]


def test_endless_lines_are_split_between_characters() -> None:
    buffer = LogBuffer(MIB)
    line = "가나다" * 20_000
    raw = line.encode()
    for start in range(0, len(raw), 1_000):
        buffer.add(OUT, raw[start : start + 1_000], 0)
    pieces = lines_of(finished(buffer))
    assert "".join(each.text for each in pieces) == line
    assert all(each.unended for each in pieces)
    assert max(len(each.text.encode()) for each in pieces) <= PIECE
    assert [each.line for each in pieces] == list(range(1, len(pieces) + 1))


chunks = st.lists(
    st.tuples(
        st.sampled_from([OUT, ERR]),
        st.one_of(
            st.binary(max_size=300),
            st.integers(0, 400).map(lambda count: b"line\n" * count),
            st.integers(0, 3_000).map(lambda count: b"x" * count),
        ),
        st.booleans(),
    ),
    max_size=40,
)


@given(chunks, st.sampled_from([256, 1_000, 4_096, 20_000, MIB]))
def test_head_and_tail_are_kept_and_the_rest_is_counted(said: list[tuple[LogStream, bytes, bool]], limit: int) -> None:
    whole, limited = LogBuffer(64 * MIB), LogBuffer(limit)
    # The same pieces in both, or their lines would not be the same.
    whole._piece = limited._piece
    everything: Written = {}
    rows: Written = {}
    for at, (stream, data, writes) in enumerate(said):
        whole.add(stream, data, at * 700)
        limited.add(stream, data, at * 700)
        if writes:
            write(limited, rows)
            assert size(rows) <= limit
    for buffer, written in ((whole, everything), (limited, rows)):
        buffer.finish(99)
        write(buffer, written)
        assert buffer.is_clean
    assert size(rows) <= limit
    all_lines = lines_of(read(everything))
    entries = read(rows)
    kept = lines_of(entries)
    by_number = {each.line: (each.stream, each.text) for each in all_lines}
    assert [(each.stream, each.text) for each in kept] == [by_number[each.line] for each in kept]
    assert [each.line for each in kept] == sorted({each.line for each in kept})
    assert sum(isinstance(each, LogCut) for each in entries) <= 1, "one beginning and one end"
    if kept:
        assert cut(entries) == kept[-1].line - len(kept), "every missing line before the last one is marked"
    total = sum(len(data) for _, data, _ in said)
    most_blocks = total // limited._piece + 3 * len(said) + 2
    if 6 * total + 40 * most_blocks <= limit // 2:
        assert len(kept) == len(all_lines), "below the limit nothing is cut"


def test_the_beginning_and_the_end_of_a_flood_are_kept() -> None:
    buffer, rows = LogBuffer(MIB), nothing()
    for number in range(100_000):
        buffer.add(OUT, f"this is line {number + 1:>7} of very many\n".encode(), number * 50)
        if number % 5_000 == 0:
            write(buffer, rows)
    write(buffer, rows)
    entries = read(rows)
    kept = lines_of(entries)
    assert MIB * 0.85 < size(rows) <= MIB
    (mark,) = [each for each in entries if isinstance(each, LogCut)]
    assert mark.lines == 100_000 - len(kept)
    assert all(each.text.split()[3] == str(each.line) for each in kept)
    assert kept[0].line == 1
    assert kept[-1].line == 100_000
    head = [each for each in kept if each.line < mark.line]
    assert 0.8 < len(head) / (len(kept) - len(head)) < 1.3


def test_a_flood_between_two_writes_leaves_its_end() -> None:
    buffer, rows = LogBuffer(MIB), nothing()
    buffer.add(OUT, b"first\n", 0)
    write(buffer, rows)
    for _ in range(100):
        buffer.add(OUT, b"".join(b"%060d\n" % number for number in range(1_000)), 1)
    buffer.add(OUT, b"last\n", 2)
    write(buffer, rows)
    found = texts(read(rows))
    assert (found[0], found[-1]) == ("first", "last")
    assert size(rows) <= MIB


def test_rows_are_few_and_of_a_bounded_size() -> None:
    """A line a moment, each written by itself: rows are filled up before there is another."""
    buffer, rows = LogBuffer(MIB), nothing()
    for number in range(5_000):
        buffer.add(OUT, b"a line now and then\n", number * 1_000_000)
        write(buffer, rows)
    assert len(rows) < MIB // 4_096 + 2
    assert max(len(row.body) for row in rows.values()) <= CHUNK
    assert len(texts(read(rows))) == 5_000


def test_the_beginning_takes_no_more_than_its_half() -> None:
    """Also where its last row was not full: what comes later is not for good, and goes into another."""
    limit = 16_384
    buffer, rows = LogBuffer(limit), nothing()
    for number in range(2_000):
        buffer.add(OUT, b"some words\n", number * 1_000_000)
        write(buffer, rows)
    (mark,) = [each for each in read(rows) if isinstance(each, LogCut)]
    head = {n: row for n, row in rows.items() if row.first_line < mark.line}
    assert limit * 0.4 < size(head) <= limit // 2


def test_offer_is_repeated_until_taken() -> None:
    buffer = LogBuffer(4_096)
    buffer.add(OUT, b"one\n", 0)
    first = buffer.offer()
    buffer.add(OUT, b"two\n" * 10_000, 1)
    assert buffer.offer() is first
    assert buffer.has_more
    buffer.taken()
    second = buffer.offer()
    assert second is not None
    assert second is not first
    assert second.chunks[0].first_line in (1, 2)


@pytest.mark.parametrize("line", [b"x" * 79 + b"\n", b"\n", b"no end"], ids=["lines", "line ends", "one line"])
def test_a_flood_is_quick_and_takes_no_memory(line: bytes) -> None:
    """64 MiB here; a gigabyte takes sixteen times as long and no more memory."""
    data = line * (65_536 // len(line))
    buffer, rows = LogBuffer(MIB), nothing()
    buffer.add(OUT, data * 16, 0)
    write(buffer, rows)
    tracemalloc.start()
    began = time.process_time()
    for number in range(1_024):
        buffer.add(OUT, data, number)
        if number % 256 == 255:
            write(buffer, rows)
    took = time.process_time() - began
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 12 * MIB
    assert took < 10, "tracing makes it many times slower"
    assert size(rows) <= MIB


def test_one_huge_text_is_no_different() -> None:
    buffer = LogBuffer(65_536)
    buffer.add(OUT, b"begin\n" + b"x" * 10_000_000 + b"\nend\n", 0)
    found = texts(finished(buffer))
    assert (found[0], found[-1]) == ("begin", "end")


def test_a_limit_too_small_for_anything_keeps_nothing() -> None:
    buffer, rows = LogBuffer(10), nothing()
    buffer.add(OUT, b"hello\n" * 100, 0)
    buffer.finish(0)
    write(buffer, rows)
    assert rows == {}
    assert buffer.is_clean
