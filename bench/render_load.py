"""The program that renders: `python -m bench.render_load TIMES`, the sample replay at 720p30, on one core.

It prints one line of JSON: the length of the video, and the best time that one rendering took by the clock and of the
processor, in seconds.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from bench.records import ROOT
from hanbeon.surfaces.exports.rendering.render_options import RenderOptions
from hanbeon.surfaces.exports.rendering.renderer import render_video

_SAMPLE = ROOT / "examples" / "replay.jsonl"
_SECONDS = 20.0


class _Silent:
    cancelled = False

    def progress(self, percent: int, phase: str, message: str) -> None: ...


def main(times: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    clock, processor = [], []
    with tempfile.TemporaryDirectory() as folder:
        for n in range(times):
            began, used = time.perf_counter(), time.process_time()
            render_video(_SAMPLE, Path(folder, f"{n}.mp4"), RenderOptions(width=1_280, height=720, fps=30), _Silent())
            clock.append(time.perf_counter() - began)
            processor.append(time.process_time() - used)
    print(json.dumps({"video": _SECONDS, "clock": min(clock), "processor": min(processor)}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
