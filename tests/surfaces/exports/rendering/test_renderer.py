"""Renderings: that others read them as they are meant, that they tell their progress, stop, and never overwrite."""

import hashlib
import itertools
import time
from pathlib import Path

import av
import pytest
from PIL import Image

from hanbeon.errors import InvalidInput
from hanbeon.surfaces.exports.rendering.render_options import RenderOptions
from hanbeon.surfaces.exports.rendering.renderer import Cancelled, render_thumbnail, render_video
from tests.surfaces.exports.rendering.test_replay_format import END, SAMPLE, replay

SMALL = RenderOptions(width=320, height=180, fps=10, start_ms=5_000, length_ms=2_000)


class Report:
    def __init__(self, stop_at: int = 101) -> None:
        self.seen: list[tuple[int, str]] = []
        self._stop_at = stop_at
        self.stopped_at = 0.0

    @property
    def cancelled(self) -> bool:
        if not self.seen or self.seen[-1][0] < self._stop_at:
            return False
        self.stopped_at = self.stopped_at or time.monotonic()
        return True

    def progress(self, percent: int, phase: str, message: str) -> None:
        assert message
        self.seen.append((percent, phase))


def test_video_has_its_duration_size_and_frames(tmp_path: Path) -> None:
    report = Report()
    done = render_video(SAMPLE, tmp_path / "1.mp4", SMALL, report)
    with av.open(str(done.path)) as found:
        stream = found.streams.video[0]
        assert stream.codec_context.name == "h264"
        assert (stream.width, stream.height, stream.pix_fmt) == (320, 180, "yuv420p")
        assert abs(float(stream.duration * stream.time_base) - 2.0) <= 1 / 10  # type: ignore[operator]
        frames: list[Image.Image] = [frame.to_image() for frame in found.decode(video=0)]  # type: ignore[no-untyped-call]
    assert len(frames) == 20
    # Smooth: the samples are 200 ms apart, and yet each frame differs from the one before it.
    assert all(one.tobytes() != other.tobytes() for one, other in itertools.pairwise(frames))
    assert done.checksum == hashlib.sha256(done.path.read_bytes()).hexdigest()
    percents = [percent for percent, _ in report.seen]
    assert percents == sorted(percents)
    assert percents[-1] == 100
    assert list(dict.fromkeys(phase for _, phase in report.seen)) == ["reading", "rendering", "publishing", "done"]
    assert [path.name for path in tmp_path.iterdir()] == ["1.mp4"]


def test_thumbnail_shows_the_liveliest_moment(tmp_path: Path) -> None:
    report = Report()
    done = render_thumbnail(SAMPLE, tmp_path / "1.png", RenderOptions(width=640, height=360), report)
    with Image.open(done.path) as picture:
        picture.load()
        assert (picture.format, picture.size) == ("PNG", (640, 360))
        assert len(picture.getcolors(1 << 20) or []) > 50
    assert any(phase == "searching" for _, phase in report.seen)


def test_captions_show_korean_text(tmp_path: Path) -> None:
    pictures = []
    for number, text in enumerate(("골", "골인", "똡")):
        source = tmp_path / f"{number}.jsonl"
        event = {"t": 500, "event": "goal", "text": text}
        source.write_bytes(replay({"t": 0, "p": {"a": [1, 1]}}, event, END))
        done = render_thumbnail(source, tmp_path / f"{number}.png", RenderOptions(width=320, height=180), Report())
        pictures.append(Image.open(done.path).tobytes())
    assert len(set(pictures)) == 3


def test_cancel_stops_rendering_and_leaves_no_file(tmp_path: Path) -> None:
    report = Report(stop_at=30)
    with pytest.raises(Cancelled):
        render_video(SAMPLE, tmp_path / "1.mp4", SMALL, report)
    assert time.monotonic() - report.stopped_at < 30  # A second, and slack for a busy machine.
    assert max(percent for percent, _ in report.seen) < 40
    assert list(tmp_path.iterdir()) == []


def test_existing_file_is_reported_and_not_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "1.mp4"
    target.write_bytes(b"made before")
    done = render_video(SAMPLE, target, SMALL, Report())
    assert done.found
    assert target.read_bytes() == b"made before"
    assert done.checksum == hashlib.sha256(b"made before").hexdigest()


def test_part_after_the_end_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="startMs"):
        render_video(SAMPLE, tmp_path / "1.mp4", RenderOptions(start_ms=20_000), Report())
    assert list(tmp_path.iterdir()) == []
