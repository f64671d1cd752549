"""The output of an attempt that is not stored yet: its beginning and its end, within a fixed limit.

The first half of the limit keeps the first lines permanently. The second half is a rolling window over the latest
lines; lines that leave the window are deleted. A flood costs a search for line ends and an append per piece: bytes are
decoded only when they are written, and most never are.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from hanbeon.domain.log import Block, Chunk, LogStream, NewChunk, Raw, RawQueue, between_characters

PIECE = 8_192
"""A longer line is split into pieces of about this many bytes, each a line of its own."""
CHUNK = 65_536
_FULL = 4_096  # A shorter chunk is rewritten with the next lines, which keeps the number of chunks low.


class LogOffer(NamedTuple):
    """The chunks to write next, and the half-open range of chunk numbers to delete with them."""

    chunks: tuple[NewChunk, ...]
    gone: tuple[int, int] | None


class LogBuffer:
    """Takes bytes and offers rows. Not thread-safe; it has no clock, so the caller passes the time with the bytes."""

    def __init__(self, limit: int) -> None:
        """`limit`: the maximum total size of an attempt's bodies in the database, in bytes."""
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
        """True if there is output to write beyond the current offer."""
        return bool(self._head) or bool(self._tail)

    @property
    def has_news(self) -> bool:
        """True if there is output to write."""
        return self._offered is not None or self.has_more

    @property
    def is_clean(self) -> bool:
        """True if the database has all output, unfinished lines included."""
        return not self.has_news and not any(self._unended.values())

    @property
    def is_flooded(self) -> bool:
        """True if lines are being cut, or soon will be."""
        return not self._is_head_open

    def add(self, stream: LogStream, data: bytes, at: int) -> None:
        """Take printed bytes. An unfinished last line continues with the next bytes of its stream."""
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
        """Mark the end of the output: unfinished lines become lines."""
        for stream, unended in self._unended.items():
            if unended:
                self._append(stream, unended, 1, at)
        self._unended.clear()

    def offer(self) -> LogOffer | None:
        """Return the next offer. It is unchanged until `taken` is called: a write whose answer was lost is repeated."""
        if self._offered is None and self.has_more:
            self._offered = self._make_offer()
        return self._offered

    def taken(self) -> None:
        """Confirm that the current offer is stored."""
        self._offered = None

    def _append(self, stream: LogStream, data: bytes, lines: int, at: int) -> None:
        raw = Raw(self._next_line, lines, at, stream, data)
        self._next_line += lines
        # The encoded text takes at least as much room as the bytes: raw bytes that exceed the room are rejected early.
        self._is_head_open = self._is_head_open and self._head.put(raw, self._head_room)
        if not self._is_head_open:
            self._tail.put(raw)
            self._tail.shrink(self._tail_room)

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
                self._close()  # Permanent lines and lines of the window never share a row.
            blocks = self._latest(late)
            # More output than the window holds has arrived since the last offer, so all its chunks are stale.
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
        """Return the end of the output, as much as the window holds."""
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
        """Put a block into the open chunk, or into a new one; return True if the chunk is new."""
        chunk = self._open
        if chunk is not None and chunk.next_line == block.line and chunk.size + block.size <= self._chunk:
            chunk.add(block)
            if not chunks:
                chunks.append(chunk)  # It is stored already, and is rewritten.
            return False
        self._close()
        self._open = chunk = Chunk(self._next_n, block)
        self._next_n += 1
        chunks.append(chunk)
        return True

    def _roll(self, chunks: list[Chunk], stale: int) -> tuple[int, int] | None:
        """Drop the first `stale` chunks and those that exceed the window; return the range of their numbers.

        Chunks that are not written yet are removed from `chunks`; the others are to be deleted from the database.
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
