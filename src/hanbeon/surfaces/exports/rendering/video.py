"""H.264 videos in MP4, frame by frame."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from hanbeon.surfaces.exports.rendering.layers import Picture, video_frame
from hanbeon.surfaces.exports.rendering.libraries import library
from hanbeon.surfaces.exports.rendering.render_options import RenderOptions

_CODEC = "libx264"
# One thread: as many renderings run at once as the worker has slots. Index first, so that a browser plays at once.
_STREAM = {"preset": "veryfast", "crf": "23", "threads": "1"}
_CONTAINER = {"movflags": "+faststart"}


class VideoWriter:
    """Writes pictures as the frames of a video. Nothing of the file can be relied on before `close`."""

    def __init__(self, path: Path, options: RenderOptions) -> None:
        av = library("av")
        self._file: Any = av.open(str(path), "w", format="mp4", options=_CONTAINER)
        stream: Any = self._file.add_stream(_CODEC, rate=options.fps, options=_STREAM)
        stream.width, stream.height, stream.pix_fmt = options.width, options.height, "yuv420p"
        stream.codec_context.time_base = Fraction(1, options.fps)
        stream.codec_context.thread_count = 1
        self._stream = stream
        self._time_base = Fraction(1, options.fps)
        self._frames = 0

    def add(self, picture: Picture) -> None:
        """Append a planar picture."""
        frame = video_frame(picture)
        frame.pts, frame.time_base = self._frames, self._time_base
        self._frames += 1
        self._mux(self._stream.encode(frame))

    def close(self) -> None:
        """Write the rest of the file."""
        self._mux(self._stream.encode(None))
        self._file.close()

    def abandon(self) -> None:
        """Close the file as it is: it is going to be deleted."""
        self._file.close()

    def _mux(self, packets: Iterator[Any]) -> None:
        for packet in packets:
            self._file.mux(packet)
