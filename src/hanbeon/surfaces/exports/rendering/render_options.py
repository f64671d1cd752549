"""Options of a rendering: size, frame rate, and the part of the replay that is shown."""

from __future__ import annotations

import msgspec

from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule

WIDTHS, HEIGHTS, RATES = (160, 1_920), (90, 1_080), (5, 60)


class RenderOptions(msgspec.Struct, frozen=True, kw_only=True):
    """In pixels, frames a second, and milliseconds of the replay. `length_ms` 0: up to the end."""

    width: int = 1_280
    height: int = 720
    fps: int = 30
    start_ms: int = 0
    length_ms: int = 0

    def part_of(self, duration_ms: int) -> tuple[int, int]:
        """Return when the part that is shown begins, and how long it is. Raises InvalidInput if it is empty."""
        left = duration_ms - self.start_ms
        if left <= 0:
            raise InvalidInput(Rule("starts_after_end", end=duration_ms, got=self.start_ms), field="startMs")
        return self.start_ms, min(self.length_ms or left, left)

    def frames_of(self, duration_ms: int) -> int:
        """Return how many frames show the part: at least one."""
        _, length = self.part_of(duration_ms)
        return max(1, round(length * self.fps / 1_000))
