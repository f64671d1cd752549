"""The pace of progress reports: a rendering reports every frame, and not each is worth a message."""

from __future__ import annotations

import time

_SECONDS = 0.5


class ProgressPace:
    """Lets a report pass if its percent or phase is another, and if it is the last or the last one was a while ago."""

    def __init__(self) -> None:
        self._last: tuple[int, str] = (-1, "")
        self._due = 0.0

    def is_due(self, percent: int, phase: str) -> bool:
        now = time.monotonic()
        if (percent, phase) == self._last or (now < self._due and phase == self._last[1] and percent < 100):
            return False
        self._last, self._due = (percent, phase), now + _SECONDS
        return True
