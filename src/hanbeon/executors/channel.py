"""Framed messages between the engine's event loop and another process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections import deque
from collections.abc import Callable, Sequence

from hanbeon.executors.supervisor.wire import Frames, TooLong, check_length
from hanbeon.logs import get_logger

_log = get_logger("hanbeon.executors")
_CHUNK = 65_536


class FrameChannel:
    """Calls `received` with each message, and `closed` once with the error; with "" if the other side closed it.

    Sending queues without limit and never blocks. No message of either side is longer than `limit`.
    """

    def __init__(
        self,
        connection: socket.socket,
        *,
        limit: int,
        received: Callable[[bytes], None],
        closed: Callable[[str], None],
    ) -> None:
        connection.setblocking(False)
        self._connection, self._received, self._closed = connection, received, closed
        self._limit = limit
        self._frames = Frames(limit)
        self._outgoing: deque[tuple[memoryview, Sequence[int]]] = deque()
        self._is_waiting = False
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(connection.fileno(), self._read)
        self.is_open = True

    def send(self, data: bytes, descriptors: Sequence[int] = ()) -> None:
        """Send it when there is room. The descriptors are closed here once they are on their way.

        Raises `TooLong`, and sends nothing, for a message that the other side would take for the end of the connection.
        """
        check_length(data, self._limit)
        if not self.is_open:
            return _close_all(descriptors)
        self._outgoing.append((memoryview(data), descriptors))
        if len(self._outgoing) == 1:
            self._write()
        return None

    def read_rest(self) -> None:
        """Read what has arrived, when nothing more will come: two sockets are not read in the order of writing."""
        while self.is_open and self._read():
            pass

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            self._loop.remove_reader(self._connection.fileno())
            self._loop.remove_writer(self._connection.fileno())
            # Also for copies in forks of this process: the other side must see the end.
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)
            self._connection.close()
            self._drop_outgoing()

    def _read(self) -> bool:
        """Read once; return True if there may be more."""
        try:
            data = self._connection.recv(_CHUNK)
            for frame in self._frames.feed(data):
                self._receive(frame)
                if not self.is_open:
                    return False
        except (BlockingIOError, InterruptedError):
            return False
        except ConnectionError:
            data = b""  # Gone without having read all that we sent.
        except (OSError, TooLong) as error:
            self._break(str(error))
            return False
        if not data:
            self._break("")
        return bool(data)

    def _receive(self, frame: bytes) -> None:
        try:
            self._received(frame)
        except Exception:
            # A defect; but the messages behind this one are about others, and about ends that are waited for.
            _log.exception("message_failed")

    def _write(self) -> None:
        while self._outgoing:
            data, descriptors = self._outgoing[0]
            try:
                if descriptors:
                    sent = socket.send_fds(self._connection, [data], list(descriptors))
                else:
                    sent = self._connection.send(data)
            except (BlockingIOError, InterruptedError):
                self._loop.add_writer(self._connection.fileno(), self._write)
                self._is_waiting = True
                return
            except OSError:
                # The other side is gone. What it sent before is still to be read, and then the end of the stream.
                self._drop_outgoing()
                break
            _close_all(descriptors)
            if sent < len(data):
                self._outgoing[0] = (data[sent:], ())
            else:
                self._outgoing.popleft()
        if self._is_waiting:
            self._is_waiting = False
            self._loop.remove_writer(self._connection.fileno())

    def _drop_outgoing(self) -> None:
        for _, descriptors in self._outgoing:
            _close_all(descriptors)
        self._outgoing.clear()

    def _break(self, why: str) -> None:
        if self.is_open:
            self.close()
            self._closed(why)


def _close_all(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            os.close(descriptor)
