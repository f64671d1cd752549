"""What an attempt has printed and the database does not have yet: the beginning and the end of it, never more.

The first half of the limit keeps the first lines for good. The second half is a window over the latest lines, which
rolls on; what falls out of it is deleted. A flood costs a search for line ends and an append for each piece of it: text
is made of the bytes only when they are written, and most never are.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from hanbeon.domain.log import LogStream
from hanbeon.domain.log_blocks import Block, Chunk, NewChunk, Raw, RawQueue, between_characters

PIECE = 8_192
"""A line that is longer comes in pieces of about this many bytes, each a line of its own."""
CHUNK = 65_536
_FULL = 4_096  # A chunk that is shorter is written again with the next lines, so that there are few of them.


class LogOffer(NamedTuple):
    """What to write next, and the range of numbers, up to but not including the second, to be deleted with it."""

    chunks: tuple[NewChunk, ...]
    gone: tuple[int, int] | None


class LogBuffer:
    """Takes bytes and offers rows. Not for two threads at once; it knows no clock, so the time comes with the bytes."""

    def __init__(self, limit: int) -> None:
        """`limit`: the most that all bodies of an attempt may take in the database, in bytes."""
        self._piece = max(64, min(PIECE, limit // 16))
        self._chunk = min(CHUNK, limit // 16)
        self._unended: dict[LogStream, bytes] = {}
        self._next_line = 1
        self._next_n = 1
        self._head = RawQueue(self._piece)
        self._head_room = limit // 2
        self._is_head_open = True
        self._tail = RawQueue(self._piece)
        self._tail_room = limit - limit // 2
        self._open: Chunk | None = None
        self._kept: deque[Chunk] = deque()
        self._offered: LogOffer | None = None

    @property
    def has_more(self) -> bool:
        """Whether there is something to write besides what is offered."""
        return bool(self._head) or bool(self._tail)

    @property
    def has_news(self) -> bool:
        """Whether there is something to write."""
        return self._offered is not None or self.has_more

    @property
    def is_clean(self) -> bool:
        """Whether the database has all of it, unfinished lines too."""
        return not self.has_news and not any(self._unended.values())

    @property
    def is_flooded(self) -> bool:
        """Whether lines are being cut, or soon will be."""
        return not self._is_head_open

    def add(self, stream: LogStream, data: bytes, at: int) -> None:
        """Take what was printed. The last line goes on with the next bytes of the stream unless it has ended."""
        for start in range(0, len(data), self._piece):
            part = data[start : start + self._piece]
            unended = self._unended.get(stream, b"")
            end = part.rfind(b"\n") + 1
            if end:
                whole = unended + part[:end]
                self._append(stream, whole, whole.count(b"\n"), at)
                unended = part[end:]
            else:
                unended += part
                if len(unended) > self._piece:
                    end = between_characters(unended, self._piece)
                    self._append(stream, unended[:end], 1, at)
                    unended = unended[end:]
            self._unended[stream] = unended

    def finish(self, at: int) -> None:
        """Nothing more will come: lines without an end are lines now."""
        for stream, unended in self._unended.items():
            if unended:
                self._append(stream, unended, 1, at)
        self._unended.clear()

    def offer(self) -> LogOffer | None:
        """What to write. The same again until it is said to be `taken`: a write whose answer was lost is repeated."""
        if self._offered is None and self.has_more:
            self._offered = self._make_offer()
        return self._offered

    def taken(self) -> None:
        """The database has what was offered."""
        self._offered = None

    # Taking

    def _append(self, stream: LogStream, data: bytes, lines: int, at: int) -> None:
        raw = Raw(self._next_line, lines, at, stream, data)
        self._next_line += lines
        # The text will take at least as much as the bytes: what does not fit by them does not fit.
        self._is_head_open = self._is_head_open and self._head.put(raw, self._head_room)
        if not self._is_head_open:
            self._tail.put(raw)
            self._tail.shrink(self._tail_room)

    # Offering

    def _make_offer(self) -> LogOffer:
        chunks: list[Chunk] = []
        late: list[Raw] = []
        for raw in self._head.take():
            block = raw.encoded()
            if late or block.size > self._head_room:
                self._is_head_open = False
                late.append(raw)
            else:
                self._head_room -= block.size
                self._place(block, chunks)
        gone = None
        if not self._is_head_open:
            if not self._kept:
                self._close()  # What is to be kept for good and what is not share no row.
            blocks = self._latest(late)
            # So much came since the last time that the window has left all behind that it had.
            left = bool(self._kept and blocks) and self._kept[-1].next_line != blocks[0].line
            stale = len(self._kept) if left else 0
            for block in blocks:
                if self._place(block, chunks):
                    self._kept.append(chunks[-1])
            gone = self._roll(chunks, stale)
        offer = LogOffer(tuple(chunk.row() for chunk in chunks), gone)
        if self._open is not None and self._open.size >= _FULL:
            self._close()
        for chunk in self._kept:
            if chunk is not self._open:
                chunk.forget()
        return offer

    def _latest(self, late: list[Raw]) -> list[Block]:
        """As much of the end as the window holds."""
        room, blocks = self._tail_room, []
        for raw in reversed([*late, *self._tail.take()]):
            block = raw.encoded()
            if block.size > room:
                break
            room -= block.size
            blocks.append(block)
        blocks.reverse()
        return blocks

    def _place(self, block: Block, chunks: list[Chunk]) -> bool:
        """Put a block into the open chunk, or into a new one; whether it is new."""
        chunk = self._open
        if chunk is not None and chunk.next_line == block.line and chunk.size + block.size <= self._chunk:
            chunk.add(block)
            if not chunks:
                chunks.append(chunk)  # It is there already, and is written again.
            return False
        self._close()
        self._open = chunk = Chunk(self._next_n, block)
        self._next_n += 1
        chunks.append(chunk)
        return True

    def _roll(self, chunks: list[Chunk], stale: int) -> tuple[int, int] | None:
        """Let go of the first `stale` chunks of the window and of what is too much for it; the range of their numbers.

        Of those that are there already, and of those that need not be written.
        """
        size = sum(chunk.size for chunk in self._kept)
        first = self._kept[0].n if self._kept else 0
        while size > self._tail_room or stale > 0:
            stale -= 1
            gone = self._kept.popleft()
            size -= gone.size
            if gone is self._open:
                self._close()
            if gone in chunks:
                chunks.remove(gone)
        upto = self._kept[0].n if self._kept else self._next_n
        return (first, upto) if 0 < first < upto else None

    def _close(self) -> None:
        self._open = None
