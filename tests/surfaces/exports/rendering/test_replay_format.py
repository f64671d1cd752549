"""The replay format: what it accepts, and where it says that something is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from hanbeon.errors import ReplayInvalid
from hanbeon.surfaces.exports.rendering.replay_file import ReplayCheck, ReplayFile, check_file
from hanbeon.surfaces.exports.rendering.replay_format import LINE_BYTES
from hanbeon.surfaces.exports.rendering.scene import Timeline

SAMPLE = Path(__file__).parents[4] / "examples" / "replay.jsonl"
HEADER: dict[str, Any] = {
    "format": "hanbeon-replay",
    "version": 1,
    "field": {"width": 100, "height": 50},
    "teams": [{"id": "h", "name": "홈", "color": "#aa0000"}],
    "actors": [{"id": "a", "team": "h"}, {"id": "ball"}],
}
END = {"t": 1000, "end": True}


def replay(*lines: Any, header: Any = HEADER) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in (header, *lines))


def checked(data: bytes, step: int = 7) -> int:
    check = ReplayCheck()
    for start in range(0, len(data), step):
        check.feed(data[start : start + step])
    return check.finish().duration_ms


def test_sample_is_valid_small_and_reproducible(tmp_path: Path) -> None:
    facts = check_file(SAMPLE)
    assert facts.duration_ms == 20_000
    assert facts.title == "한번 컵 결승"
    assert SAMPLE.stat().st_size < 300_000


@pytest.mark.parametrize(
    ("data", "line", "text"),
    [
        (b"", 0, "empty file"),
        (b"\x89PNG\n", 1, "must be a JSON object"),
        (replay(END, header={**HEADER, "format": "x"}), 1, "format"),
        (replay(END, header={**HEADER, "version": 2}), 1, "version: must be 1, got 2"),
        (replay(END, header={**HEADER, "field": {"width": 0, "height": 1}}), 1, "field.width"),
        (replay(END, header={**HEADER, "actors": [{"id": "a"}, {"id": "a"}]}), 1, "'a' twice"),
        (replay(END, header={**HEADER, "actors": [{"id": "a", "team": "z"}]}), 1, "must name a team"),
        (replay({"t": 5, "p": {"x": [1, 2]}}, END), 2, "must name a actor"),
        (replay({"t": 5, "p": {"a": [1, 999]}}, END), 2, "p.a: must be in or near the field"),
        (replay({"t": 5}, {"t": 4}, END), 3, "t: must not be before the previous line's 5, got 4"),
        (replay({"t": 5, "sore": 1}, END), 2, "sore"),
        (replay({"t": 5, "score": {"z": 1}}, END), 2, "score: must name a team"),
        (replay({"t": 5, "text": "x" * LINE_BYTES}, END), 2, "at most"),
        (replay({"t": 5}), 2, "is the file cut?"),
        (replay(END, {"t": 1000}), 3, "must be on the last line"),
        (replay(*({"t": 5} for _ in range(201)), END), 202, "at most 200 lines in a second"),
        (b'{"format": "hanbeon-replay", "version": 1' + b" " * LINE_BYTES, 1, "at most"),
    ],
)
def test_rejects_invalid_replay_with_line_and_field(data: bytes, line: int, text: str, tmp_path: Path) -> None:
    with pytest.raises(ReplayInvalid) as caught:
        checked(data)
    assert caught.value.line == line
    assert f"line {line}" in str(caught.value)
    assert text in str(caught.value)
    file = tmp_path / "replay"
    file.write_bytes(data)
    with pytest.raises(ReplayInvalid):
        check_file(file)


def test_actors_move_in_straight_lines_between_positions(tmp_path: Path) -> None:
    file = tmp_path / "replay"
    file.write_bytes(
        replay(
            {"t": 0, "p": {"a": [0, 0], "ball": [0, 0]}},
            {"t": 100, "p": {"a": [10, 20]}, "score": {"h": 1}, "event": "goal", "text": "골", "team": "h"},
            {"t": 6000, "p": {"ball": [50, 50]}},
            {"t": 7000, "end": True},
        )
    )
    with ReplayFile(file) as found:
        timeline = Timeline(found.header, found)
        assert timeline.at(50).positions["a"] == (5, 10)
        assert timeline.at(50).score == {"h": 0}
        later = timeline.at(101)
        assert later.positions == {"a": (10, 20), "ball": (0, 0)}  # Positions far apart are no movement.
        assert later.score == {"h": 1}
        assert [caption.text for caption in later.captions] == ["골"]
        assert timeline.at(6000).positions["ball"] == (50, 50)
        assert timeline.at(6000).captions == ()
