"""Renderings of replays: a video of a part, or a picture of its liveliest moment, with real progress."""

from __future__ import annotations

import contextlib
import enum
import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from msgspec import UNSET

from hanbeon.surfaces.exports.rendering.layers import planar_picture
from hanbeon.surfaces.exports.rendering.picture import Artist
from hanbeon.surfaces.exports.rendering.render_options import RenderOptions
from hanbeon.surfaces.exports.rendering.replay_file import ReplayFile, check_file
from hanbeon.surfaces.exports.rendering.replay_format import Header, Record
from hanbeon.surfaces.exports.rendering.scene import Timeline
from hanbeon.surfaces.exports.rendering.video import VideoWriter

_WINDOW_MS = 500
_EVENT, _SCORE = 2.0, 10.0
"""Weights: a point that is scored counts as much as everybody crossing ten fields."""


def liveliest_moment(header: Header, records: Iterable[Record], seen: Callable[[int], None] = lambda t: None) -> int:
    """Return its time in milliseconds. Keeps one window of the replay; `seen` is called with the time of each."""
    best, best_at = -1.0, 0
    window, liveliness, moment = 0, 0.0, 0
    last: dict[str, tuple[float, float]] = {}
    for record in records:
        if record.t // _WINDOW_MS != window:
            if liveliness > best:
                best, best_at = liveliness, moment
            window, liveliness = record.t // _WINDOW_MS, 0.0
            moment = record.t
            seen(record.t)
        if record.p is not UNSET:
            for actor, (x, y) in record.p.items():
                before = last.get(actor, (x, y))
                liveliness += abs(x - before[0]) / header.field.width + abs(y - before[1]) / header.field.height
                last[actor] = (x, y)
        if record.event is not UNSET or record.score is not UNSET:
            liveliness += _EVENT if record.score is UNSET else _SCORE
            moment = record.t  # What happened is to be seen, and its caption.
    return moment if liveliness > best else best_at


_READ_BYTES = 1 << 20


@contextlib.contextmanager
def temporary_beside(path: Path) -> Iterator[Path]:
    """Yield a new name in the folder of `path`, and leave nothing under it. The folder must exist."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def publish(temporary: Path, path: Path) -> bool:
    """Give a whole file its name; False if there is a file of that name, which stays as it is."""
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return True


def sha256_of(path: Path, look: Callable[[], None] = lambda: None) -> str:
    """Return the SHA-256 of a file in hex; `look` is called for each part of it."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(_READ_BYTES):
            digest.update(data)
            look()
    return digest.hexdigest()


_LOOK_LINES = 500
_CHECKED, _DRAWN = 5, 95
"""Percent of the whole: up to the end of the check of the file, and of the drawing; the rest is its publication."""


class RenderPhase(enum.StrEnum):
    """The phase of a rendering. Workers of others may report phases of their own."""

    READING = "reading"
    SEARCHING = "searching"
    RENDERING = "rendering"
    PUBLISHING = "publishing"
    DONE = "done"


class Cancelled(Exception):
    """The rendering was asked to stop, and has left nothing behind."""


class Report(Protocol):
    """The side that wants the rendering. Both are called often, and the rendering waits for them."""

    @property
    def cancelled(self) -> bool: ...

    def progress(self, percent: int, phase: RenderPhase, message: str) -> None: ...


class Rendered(NamedTuple):
    """A published file."""

    path: Path
    checksum: str
    """SHA-256 in hex."""
    found: bool
    """True if the file was there already, and was left as it is."""


def render_video(source: Path, target: Path, options: RenderOptions, report: Report) -> Rendered:
    """Render a replay to an MP4 file. The folder of `target` must exist. Raises Cancelled within a second."""

    def write(temporary: Path) -> None:
        duration = _checked(source, report)
        start, _ = options.part_of(duration)
        frames = options.frames_of(duration)
        writer = VideoWriter(temporary, options)
        try:
            with ReplayFile(source) as replay:
                artist = Artist(replay.header, options.width, options.height, planar_picture)
                timeline = Timeline(replay.header, _watched(replay, report))
                for number in range(frames):
                    _look(report)
                    writer.add(artist.draw(timeline.at(start + number * 1_000 // options.fps)))
                    done = _CHECKED + (_DRAWN - _CHECKED) * (number + 1) // frames
                    report.progress(done, RenderPhase.RENDERING, f"frame {number + 1} of {frames}")
            writer.close()
        except BaseException:
            writer.abandon()
            raise

    return _published(target, report, write)


def render_thumbnail(source: Path, target: Path, options: RenderOptions, report: Report) -> Rendered:
    """Render the liveliest moment of a replay to a PNG file, in the same way."""

    def write(temporary: Path) -> None:
        duration = _checked(source, report)
        start, length = options.part_of(duration)
        with ReplayFile(source) as replay:

            def seen(t: int) -> None:
                _look(report)
                done = _CHECKED + (_DRAWN - _CHECKED) * t // max(1, duration) // 2
                report.progress(done, RenderPhase.SEARCHING, f"{t} of {duration} ms")

            part = (each for each in replay if start <= each.t <= start + length)
            moment = liveliest_moment(replay.header, part, seen)
        with ReplayFile(source) as replay:
            timeline = Timeline(replay.header, _watched(replay, report))
            # A moment later, when the caption of what happened has faded in.
            scene = timeline.at(min(moment + 400, start + length))
            picture = Artist(replay.header, options.width, options.height).draw(scene)
        report.progress(_DRAWN, RenderPhase.RENDERING, f"the moment at {moment} ms")
        picture.layers[0].image.save(temporary, format="PNG", optimize=False)

    return _published(target, report, write)


def _published(target: Path, report: Report, write: Callable[[Path], None]) -> Rendered:
    found = target.exists()
    if not found:
        with temporary_beside(target) as temporary:
            write(temporary)
            _look(report)
            report.progress(_DRAWN, RenderPhase.PUBLISHING, target.name)
            found = not publish(temporary, target)
    checksum = sha256_of(target, lambda: _look(report))
    report.progress(100, RenderPhase.DONE, "found as it was" if found else target.name)
    return Rendered(target, checksum, found)


def _checked(source: Path, report: Report) -> int:
    _look(report)
    report.progress(0, RenderPhase.READING, source.name)
    duration = check_file(source, lambda: _look(report)).duration_ms
    report.progress(_CHECKED, RenderPhase.READING, f"{duration} ms")
    return duration


def _watched(replay: ReplayFile, report: Report) -> Iterator[Record]:
    """The records, with a look at the report now and then: a part that is not shown may be long."""
    for number, record in enumerate(replay):
        if number % _LOOK_LINES == 0:
            _look(report)
        yield record


def _look(report: Report) -> None:
    if report.cancelled:
        raise Cancelled
